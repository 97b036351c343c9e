"""Vertex: its addresses, its tokens, and what happens when there are none, against the fake."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from farhand.sdk import Agent, VertexModel
from farhand.sdk.errors import ModelRefused, NoKey
from farhand.sdk.models.http import RetryPolicy
from farhand.testing.models.gemini import FakeGemini, refuses, says

pytestmark = pytest.mark.anyio
REQUEST = {"model": "gemini-2.5-flash", "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


async def test_a_turn_with_a_fresh_token_for_each_request(fake: FakeGemini, tmp_path: Path) -> None:
    fake.expect(refuses(503), says("Hello."), says("Again."))
    numbers = itertools.count(1)

    async def token() -> str:
        return f"token-{next(numbers)}"

    model = VertexModel(
        "my-project", "europe-west4", token=token, base_url=fake.url, retry_policy=RetryPolicy(first_seconds=0.001)
    )
    async with Agent(cwd=tmp_path, model=model, loads=False, records=False, builtin_tools=False) as agent:
        session = agent.session()
        assert (await session.send("hi")).text == "Hello."
        assert (await session.send("more")).text == "Again."
    place = "/v1/projects/my-project/locations/europe-west4/publishers/google/models/"
    assert all(each.path.startswith(place) for each in fake.requests)
    tokens = [each.headers["authorization"] for each in fake.requests]
    assert tokens == ["Bearer token-1", "Bearer token-2", "Bearer token-3"]


async def test_whole_answers_and_counts(fake: FakeGemini) -> None:
    fake.expect(says("Hello."))
    model = VertexModel("p", token=lambda: "t", base_url=fake.url)
    answer = await model.generate(REQUEST)
    assert answer["candidates"][0]["content"]["parts"] == [{"text": "Hello."}]
    assert await model.count(REQUEST) > 0
    assert fake.script.requests[-1].body == {"contents": REQUEST["contents"]}
    await model.close()


@pytest.mark.parametrize("how", ["name", "variable", "settings"])
async def test_it_is_chosen_as_in_the_cli(fake: FakeGemini, home: Path, project: Path, how: str) -> None:
    fake.expect(says("Hello."))
    environ = {"HOME": str(home), "GOOGLE_API_KEY": "key", "GOOGLE_VERTEX_BASE_URL": fake.url}
    if how == "variable":
        environ["GOOGLE_GENAI_USE_VERTEXAI"] = "true"
    if how == "settings":
        (home / ".gemini").mkdir()
        (home / ".gemini" / "settings.json").write_text('{"security": {"auth": {"selectedType": "vertex-ai"}}}')
    name = "vertex:gemini-2.5-flash" if how == "name" else "gemini-2.5-flash"
    agent = Agent(cwd=project, home=home, model=name, environ=environ, builtin_tools=False)
    assert (await agent.send("hi")).text == "Hello."
    request = fake.requests[0]
    assert request.path.startswith("/v1/publishers/google/models/gemini-2.5-flash:")
    assert request.headers["x-goog-api-key"] == "key"
    assert "authorization" not in request.headers


async def test_no_way_in_is_told(fake: FakeGemini) -> None:
    with pytest.raises(NoKey, match="a project and a login, or an API key"):
        VertexModel()
    empty = VertexModel("p", token=lambda: "", base_url=fake.url)
    with pytest.raises(NoKey, match="is empty"):
        await empty.generate(REQUEST)
    fake.expect(refuses(403, "Permission denied on resource project p."))
    refused = VertexModel("p", token="t", base_url=fake.url)
    with pytest.raises(ModelRefused, match="Permission denied"):
        await refused.generate(REQUEST)
    await refused.close()
    await empty.close()


async def test_the_login_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.auth", reason="the extra 'vertex' is not installed")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "nothing.json"))
    model = VertexModel("p", base_url="http://127.0.0.1:1")
    with pytest.raises(NoKey, match="no login for Vertex"):
        await model.generate(REQUEST)
    await model.close()
