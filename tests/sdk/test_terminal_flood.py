"""A thousand messages of five programs at once through the terminal app: each is there once, and a person is heard."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.sdk.shown_app import SAFETY_SECONDS, Shown

from farhand.cli.remote_control import remote_control
from farhand.testing.desk import ScriptedDesk, ScriptedSession, piloted
from farhand.testing.http import local_client
from farhand.tui.app import TerminalApp
from farhand.tui.typed_session import TypedSession

pytestmark = pytest.mark.anyio
PROGRAMS, EACH = 5, 200


async def test_five_programs_and_a_person_talk_at_once(tmp_path: Path) -> None:
    session = ScriptedSession()
    desk = ScriptedDesk(session)
    app = TerminalApp(desk, ready=session.set_ready)
    async with (
        piloted(app) as pilot,
        remote_control(lambda _: TypedSession(desk, may_allow=False), 0, tmp_path) as port,
    ):
        person = Shown(app, pilot)
        await person.until(lambda: session.log.status.ready)

        async def speak(program: int) -> None:
            address = f"http://127.0.0.1:{port}"
            async with local_client(base_url=address, timeout=SAFETY_SECONDS) as client:
                for number in range(EACH):
                    posted = await client.post("/message", json={"message": f"{program}-{number}"})
                    assert posted.status_code == 200

        async with anyio.create_task_group() as tasks:
            for program in range(PROGRAMS):
                tasks.start_soon(speak, program)
            await person.until(lambda: len(session.log.messages) > EACH)
            await person.type("somebody is here")
        said = [one.text for one in session.log.messages]
        everything = [f"{program}-{number}" for program in range(PROGRAMS) for number in range(EACH)]
        assert sorted(said) == sorted([*everything, "somebody is here"])
        for program in range(PROGRAMS):
            own = [text for text in said if text.startswith(f"{program}-")]
            assert own == [f"{program}-{number}" for number in range(EACH)]
        # The screen is at its end, and is no longer than any other.
        await person.see(said[-1])
        assert person.is_bounded()
        async with local_client(base_url=f"http://127.0.0.1:{port}") as client:
            assert [one["text"] for one in (await client.get("/history")).json()] == said
