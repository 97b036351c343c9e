"""Models behind one protocol: Gemini over REST with patience, fakes and recorders, and two other vendors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.sdk.conftest import MakeAgent

from farhand.sdk import (
    AnthropicModel,
    FakeExhausted,
    FakeModel,
    GeminiModel,
    ModelError,
    ModelRefused,
    OpenAiModel,
    Recorder,
    StreamCut,
    wire,
)
from farhand.sdk.models.gemini import custom_headers
from farhand.sdk.models.http import RetryPolicy, asked_delay, sent_events
from farhand.sdk.models.openai import to_body
from farhand.testing.models.gemini import FakeGemini, calls, cut, refuses, says

pytestmark = pytest.mark.anyio

REQUEST = {"model": "gemini-2.5-flash", "contents": [wire.user("hi")]}


async def text_of(stream: Any) -> str:
    return "".join(
        [part["text"] async for chunk in stream for part in wire.response_parts(chunk) if wire.is_text(part)]
    )


async def test_patience_grows_and_the_servers_word_counts(fake: FakeGemini) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    fake.expect(refuses(500), refuses(503), refuses(429, retry_after="7"), says("ok"))
    model = GeminiModel("key", base_url=fake.url, sleep=sleep, chance=lambda: 0.0)
    assert await text_of(model.stream(REQUEST)) == "ok"
    await model.close()
    assert slept == [1.0, 2.0, 7.0]


async def test_googles_own_delay_is_read() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12.5s"}
    body = json.dumps({"error": {"code": 429, "message": "quota", "details": [info]}}).encode()
    assert asked_delay(None, body) == 12.5
    assert asked_delay("3", body) == 3.0
    assert asked_delay(None, b"{}") is None
    assert asked_delay("Wed, 21 Oct", b"") is None
    assert RetryPolicy().delay(1, 3.0, 0.5) == 3.0
    assert RetryPolicy().delay(9, None, 0.0) == 30.0


async def test_patience_ends(fake: FakeGemini) -> None:
    async def sleep(seconds: float) -> None:
        return None

    fake.expect(*(refuses(503, "overloaded") for _ in range(3)))
    model = GeminiModel("key", base_url=fake.url, retry_policy=RetryPolicy(attempts=3), sleep=sleep)
    with pytest.raises(ModelRefused, match="503 after 3 attempts: overloaded"):
        await model.generate(REQUEST)
    await model.close()


async def test_a_server_that_is_not_there_is_named() -> None:
    model = GeminiModel("key", base_url="http://127.0.0.1:9", retry_policy=RetryPolicy(attempts=1))
    with pytest.raises(ModelError, match=r"http://127\.0\.0\.1:9 was not reached"):
        await model.generate(REQUEST)
    await model.close()


async def test_a_gateway_gets_its_headers_and_no_key(fake: FakeGemini) -> None:
    fake.expect(says("ok"))
    model = GeminiModel(base_url=fake.url + "/gate/way", headers={"x-gateway": "token, with comma"})
    await model.generate(REQUEST)
    await model.close()
    received = fake.requests[0]
    assert received.path == "/gate/way/v1beta/models/gemini-2.5-flash:generateContent"
    assert received.headers["x-gateway"] == "token, with comma"
    assert "x-goog-api-key" not in received.headers


async def test_the_environment_of_the_cli_is_understood(fake: FakeGemini) -> None:
    fake.expect(says("ok"))
    environ = {
        **fake.environ(),
        "GOOGLE_GENAI_API_VERSION": "v1",
        "GEMINI_API_KEY_AUTH_MECHANISM": "bearer",
        "GEMINI_CLI_CUSTOM_HEADERS": "X-One: 1, X-Two: a,b",
    }
    model = GeminiModel.from_environment(environ)
    await model.generate(REQUEST)
    await model.close()
    received = fake.requests[0]
    assert received.path.startswith("/v1/models/")
    assert received.headers["authorization"] == "Bearer fake-key"
    assert (received.headers["x-one"], received.headers["x-two"]) == ("1", "a,b")
    assert custom_headers("") == {}


async def test_tokens_are_counted(fake: FakeGemini) -> None:
    model = GeminiModel("key", base_url=fake.url)
    assert await model.count(REQUEST) > 0
    await model.close()
    counted = fake.script.requests[0]
    assert counted.method == "countTokens"
    assert counted.body["generateContentRequest"]["model"] == "models/gemini-2.5-flash"


async def test_a_stream_without_a_finish_reason_is_cut(fake: FakeGemini) -> None:
    fake.expect(cut("half"))
    model = GeminiModel("key", base_url=fake.url)
    with pytest.raises(StreamCut):
        await text_of(model.stream(REQUEST))
    await model.close()


async def test_the_fake_plays_what_the_recorder_wrote(make_agent: MakeAgent, fake: FakeGemini, tmp_path: Path) -> None:
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    fake.expect(calls("add", {"a": 1, "b": 2}, call_id="c1", signature="c2ln"), says("It is ", "3."))
    tape = tmp_path / "tape.jsonl"
    recorder = Recorder(GeminiModel("key", base_url=fake.url), tape)
    live = await make_agent(model=recorder, tools=[add]).send("1 + 2?")
    lines = [json.loads(line) for line in tape.read_text().splitlines()]
    assert [line["method"] for line in lines] == ["generateContentStream"] * 2
    played = FakeModel.from_file(tape)
    again = await make_agent(model=played, tools=[add]).send("1 + 2?")
    assert again.text == live.text == "It is 3."
    assert played.left == 0
    assert played.requests[1][1]["contents"][-2:] == fake.last["contents"][-2:]


async def test_a_fake_says_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(FakeExhausted, match="No answer is left"):
        await FakeModel([]).generate(REQUEST)
    model = FakeModel([{"method": "generateContent", "response": {}}])
    with pytest.raises(FakeExhausted, match="is for generateContent, but generateContentStream was asked"):
        await text_of(model.stream(REQUEST))
    later = [
        {"method": "countTokens", "response": {"totalTokens": 5}},
        {"method": "generateContent", "response": {"x": 1}},
    ]
    loose = FakeModel(later, strict=False)
    assert await loose.generate(REQUEST) == {"x": 1}
    assert await loose.count(REQUEST) == 5
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"method": "generateContent"}\n{nope')
    with pytest.raises(FakeExhausted, match="line 2"):
        FakeModel.from_file(bad)


@dataclass
class Events:
    """A server that answers every POST with the next list of server-sent events, or the next JSON object."""

    url: str
    bodies: list[dict[str, Any]]
    replies: list[Any]


@pytest.fixture
def events() -> Iterator[Events]:
    state = Events("", [], [])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.bodies.append({"path": self.path, **body})
            reply = state.replies.pop(0)
            if isinstance(reply, list):
                data = "".join(f"event: x\ndata: {json.dumps(each)}\n\n" for each in reply).encode()
            else:
                data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *arguments: Any) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=lambda: server.serve_forever(0.05), daemon=True)
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def look(where: str) -> str:
    """Looks somewhere."""
    return f"seen {where}"


def open_ai(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


async def test_an_openai_compatible_server_runs_a_tool_turn(make_agent: MakeAgent, events: Events) -> None:
    first = {"index": 0, "id": "call_1", "function": {"name": "look", "arguments": '{"whe'}}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    events.replies = [
        [
            open_ai({"content": "I "}),
            open_ai({"content": "look."}),
            open_ai({"tool_calls": [first]}),
            open_ai({"tool_calls": [{"index": 0, "function": {"arguments": 're": "up"}'}}]}),
            open_ai({}, "tool_calls"),
            {"choices": [], "usage": usage},
        ],
        [open_ai({"content": "Done."}, "stop")],
    ]
    model = OpenAiModel(base_url=events.url + "/v1")
    result = await make_agent(model=model, tools=[look], instructions="Be brief.").send("go")
    assert result.text == "I look.Done."
    assert result.usage.total_tokens == 10
    body = events.bodies[1]
    assert body["path"] == "/v1/chat/completions"
    assert body["tools"][0]["function"]["name"] == "look"
    assert body["messages"][0]["role"] == "system"
    assert "Be brief." in body["messages"][0]["content"]
    asked, answered = body["messages"][-2:]
    assert asked["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"where":"up"}'}
    assert answered == {"role": "tool", "tool_call_id": "call_1", "content": "seen up"}


async def test_an_openai_stream_that_breaks_off_is_cut(events: Events) -> None:
    events.replies = [[open_ai({"content": "half"})]]
    model = OpenAiModel(base_url=events.url)
    with pytest.raises(StreamCut):
        await text_of(model.stream(REQUEST))
    await model.close()


async def test_openai_generates_whole_answers_and_sends_images(events: Events) -> None:
    message = {"content": "A dot.", "tool_calls": [{"id": "c", "function": {"name": "look", "arguments": "{}"}}]}
    events.replies = [{"choices": [{"message": message, "finish_reason": "length"}]}]
    model = OpenAiModel(base_url=events.url)
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    request = {
        **REQUEST,
        "contents": [wire.user("what?", image)],
        "generationConfig": {"maxOutputTokens": 5, "responseJsonSchema": {"type": "object"}},
        "tools": [{"functionDeclarations": [{"name": "look"}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}},
    }
    response = await model.generate(request)
    await model.close()
    assert wire.finish_reason(response) == "MAX_TOKENS"
    assert [call.name for call in wire.calls_of({"parts": wire.response_parts(response)})] == ["look"]
    body = events.bodies[0]
    assert body["messages"][0]["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "look"}}
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert body["max_tokens"] == 5
    assert to_body(request, "max_completion_tokens")["max_completion_tokens"] == 5


async def test_anthropic_runs_a_tool_turn_and_keeps_its_signatures(make_agent: MakeAgent, events: Events) -> None:
    def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {"type": "content_block_start", "index": index, "content_block": start},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": index},
        ]

    start = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 2}}}
    stop = {"type": "message_stop"}

    def end(reason: str) -> dict[str, Any]:
        return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}}

    thinking = [{"type": "thinking_delta", "thinking": "hmm"}, {"type": "signature_delta", "signature": "c2ln"}]
    partial = [
        {"type": "input_json_delta", "partial_json": '{"where"'},
        {"type": "input_json_delta", "partial_json": ': "up"}'},
    ]
    events.replies = [
        [
            start,
            *block(0, {"type": "thinking", "thinking": ""}, *thinking),
            *block(1, {"type": "text", "text": ""}, {"type": "text_delta", "text": "I look."}),
            *block(2, {"type": "tool_use", "id": "t1", "name": "look", "input": {}}, *partial),
            end("tool_use"),
            stop,
        ],
        [
            start,
            *block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}),
            end("end_turn"),
            stop,
        ],
    ]
    model = AnthropicModel("key", base_url=events.url)
    result = await make_agent(model=model, tools=[look]).send("go")
    assert result.text == "I look.Done."
    assert result.usage.total_tokens == 20
    assert [message["role"] for message in events.bodies[1]["messages"]] == ["user", "assistant", "user"]
    assistant = events.bodies[1]["messages"][1]["content"]
    assert assistant == [
        {"type": "thinking", "thinking": "hmm", "signature": "c2ln"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"where": "up"}},
    ]
    answered = events.bodies[1]["messages"][2]["content"][0]
    assert answered == {"type": "tool_result", "tool_use_id": "t1", "content": "seen up"}


async def test_anthropic_generates_counts_and_notices_a_cut(events: Events) -> None:
    events.replies = [
        {"content": [{"type": "text", "text": "Hi."}], "stop_reason": "max_tokens", "usage": {"input_tokens": 1}},
        {"input_tokens": 42},
        [{"type": "message_start", "message": {}}],
    ]
    model = AnthropicModel("key", base_url=events.url)
    assert wire.finish_reason(await model.generate(REQUEST)) == "MAX_TOKENS"
    assert await model.count(REQUEST) == 42
    with pytest.raises(StreamCut):
        await text_of(model.stream(REQUEST))
    await model.close()


async def test_a_model_is_chosen_by_its_name(make_agent: MakeAgent, events: Events) -> None:
    events.replies = [[open_ai({"content": "Local."}, "stop")]]
    environ = {"OPENAI_BASE_URL": events.url}
    result = await make_agent(model="openai:qwen3:8b", environ=environ).send("hi")
    assert result.text == "Local."
    assert events.bodies[0]["model"] == "qwen3:8b"


async def test_odd_line_ends_inside_a_text_do_not_break_the_stream(fake: FakeGemini) -> None:
    odd = "one\u2028two\x85three\u2029four\x0bfive\x1csix"
    fake.expect(says(odd, odd))
    model = GeminiModel("key", base_url=fake.url)
    assert await text_of(model.stream(REQUEST)) == odd + odd
    await model.close()


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
async def test_events_are_found_however_the_bytes_arrive(size: int) -> None:
    raw = 'event: x\r\ndata: {"a":\r\ndata: "ä"}\r\n\r\n: a comment\n\ndata: 2\n\ndata: 3'.encode()

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(raw), size):
            yield raw[start : start + size]

    assert [event async for event in sent_events(pieces())] == ['{"a":\n"ä"}'.encode(), b"2", b"3"]


async def test_anthropic_thinks_within_a_budget(events: Events) -> None:
    events.replies = [{"content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn"}]
    model = AnthropicModel("key", base_url=events.url)
    await model.generate(
        {**REQUEST, "generationConfig": {"maxOutputTokens": 100, "thinkingConfig": {"thinkingBudget": 2000}}}
    )
    await model.close()
    assert events.bodies[0]["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert events.bodies[0]["max_tokens"] == 2100
