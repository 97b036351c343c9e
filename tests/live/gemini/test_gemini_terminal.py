"""The real Gemini CLI in its terminal: asks answered at the desk, by nobody, without a hook; sessions, modes."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from farhand.drivers.gemini.sessions import age
from farhand.drivers.gemini.tmux.screen import read_box
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.model.commands import Hire, Tune
from farhand.model.facts import (
    AnswerDelivered,
    AskRaised,
    AskSettled,
    CameOnline,
    Ended,
    Noted,
    Said,
    SessionKnown,
    ToolEnded,
    ToolStarted,
    Tuned,
    TurnEnded,
)
from farhand.model.words import HowEnded, HowSettled, Mode
from farhand.testing.gemini_env import GeminiEnv
from farhand.testing.house import House
from farhand.testing.models.gemini import calls, says

pytestmark = pytest.mark.anyio
NAME = "claude-test-ann"
OTHER_MODEL = "gemini-2.5-pro"
TALK = {
    "zz-first": "the word is plover",
    "zz-second": "it was plover",
    "zz-third": "as I said",
    "zz-fourth": "once more then",
    "zz-fifth": "you know it",
}


async def hired(house: House, cli_env: GeminiEnv, mode: Mode = Mode.DEFAULT, wire: str = "tmux") -> None:
    """A worker in a terminal."""
    await house.hire(backend="gemini", directory=cli_env.project, mode=mode, wire=wire)


def touches(cli_env: GeminiEnv, marker: str, *then: str) -> None:
    """The model wants to create a file."""
    arguments = {"command": f"touch {marker}.txt", "description": "Leave a file"}
    cli_env.model.expect(calls("run_shell_command", arguments), *map(says, then), prompt=marker)


async def told(house: House) -> list[str]:
    """All that was said since the house began anew."""
    return [event.fact.text for event in await house.history() if isinstance(event.fact, Said)]


async def goes_on(house: House, worker: str, marker: str) -> None:
    """One turn that comes to its end."""
    after = house.hub.present.seq
    await house.say(marker, worker=worker)
    assert (await house.fact(TurnEnded, after=after)).how is HowEnded.COMPLETED


async def relaunched(house: House, worker: str) -> None:
    """The worker's next life."""
    after = house.hub.present.seq
    await house.relaunch(worker)
    await house.fact(CameOnline, after=after)


async def taken_up(house: House, cli_env: GeminiEnv, name: str, wire: str, session: str) -> None:
    """A worker with a conversation of before."""
    after = house.hub.present.seq
    hire = Hire(
        id=house.id(),
        worker=name,
        backend="gemini",
        directory=str(cli_env.project),
        mode=Mode.DEFAULT,
        options={"wire": wire},
        session=session,
    )
    await house.send(hire)
    await house.fact(CameOnline, after=after)


async def pane_of(cli_env: GeminiEnv) -> Pane:
    return (await cli_env.tmux.find(NAME))[NAME]


async def shows(cli_env: GeminiEnv, pane: Pane, words: str) -> None:
    """Returns when the pane shows this."""
    with anyio.fail_after(240):
        while words not in await cli_env.tmux.capture(pane):  # noqa: ASYNC110
            await anyio.sleep(0.05)


async def test_one_worker_in_its_terminal_keeps_every_promise(
    cli_env: GeminiEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One after the other on one start of the CLI, which is what costs; its hook is broken at last."""
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await an_edit_is_shown_whole_and_an_answer_at_the_desk_is_over_everywhere(cli_env, house)
        house.begin_anew()
        await what_nobody_sees_in_a_message_holds_nothing_up(cli_env, house)
        house.begin_anew()
        await what_is_typed_at_the_desk_is_a_turn_of_its_own(cli_env, house)
        house.begin_anew()
        ask = await an_ask_outlives_the_node(cli_env, house)
    assert not (cli_env.project / "zz-six.txt").exists()
    async with cli_env.open() as house:
        await and_is_answered_once(cli_env, house, ask)
        house.begin_anew()
        await a_kill_just_before_the_key(cli_env, house, monkeypatch)
    assert not (cli_env.project / "zz-between.txt").exists()
    async with cli_env.open(ask_seconds=1.5) as house:
        assert (await house.fact(AnswerDelivered)).problem == "", "the kill forgot no question"
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert (cli_env.project / "zz-between.txt").exists()
        house.begin_anew()
        await the_deadline_denies(cli_env, house)
    async with cli_env.open() as house:
        house.begin_anew()
        await modes_models_and_a_cleared_conversation(cli_env, house)
        house.begin_anew()
        await without_its_hook_nothing_runs_and_the_dialog_is_told(cli_env, house)


async def an_edit_is_shown_whole_and_an_answer_at_the_desk_is_over_everywhere(cli_env: GeminiEnv, house: House) -> None:
    edit = {"file_path": str(cli_env.project / "w.txt"), "content": "alpha\nbeta\n"}
    cli_env.model.expect(calls("write_file", edit, text="I will"), says("wrote"), prompt="zz-write")
    touches(cli_env, "zz-no")
    await house.say("zz-write")
    ask = await house.fact(AskRaised)
    assert [choice.id for choice in ask.choices] == ["allow", "session", "deny"]
    assert str(cli_env.project / "w.txt") in ask.detail
    assert "+beta" in ask.detail
    pane = await pane_of(cli_env)
    await cli_env.tmux.press(pane, "1")
    assert (await house.fact(AskSettled)).how is HowSettled.DESK
    ended = await house.event(TurnEnded)
    assert (cli_env.project / "w.txt").read_text() == "alpha\nbeta\n"
    assert await told(house) == ["I will", "\n\nwrote"]
    assert (await house.fact(ToolEnded)).call == (await house.fact(ToolStarted)).call
    await house.say("zz-no")
    second = await house.event(AskRaised, after=ended.seq)
    await cli_env.tmux.press(pane, "Escape")
    settled = await house.fact(AskSettled, after=second.seq)
    assert settled.how is HowSettled.DESK
    assert (await house.fact(TurnEnded, after=ended.seq)).how is HowEnded.INTERRUPTED
    assert not (cli_env.project / "zz-no.txt").exists()


async def what_nobody_sees_in_a_message_holds_nothing_up(cli_env: GeminiEnv, house: House) -> None:
    cli_env.model.expect(says("one"), prompt="zz-hidden")
    cli_env.model.expect(says("two"), prompt="zz-later")
    await house.say("\ufeffzz-hidden \x1b[31mred\u200b")
    first = await house.event(TurnEnded)
    assert first.fact.how is HowEnded.COMPLETED  # type: ignore[union-attr]
    await house.say("zz-later")
    assert (await house.fact(TurnEnded, after=first.seq)).how is HowEnded.COMPLETED
    assert [text.strip() for text in await told(house)] == ["one", "two"]


async def what_is_typed_at_the_desk_is_a_turn_of_its_own(cli_env: GeminiEnv, house: House) -> None:
    cli_env.model.expect(says("hello desk"), prompt="zz-desk")
    pane = await pane_of(cli_env)
    await cli_env.tmux.paste(pane, "zz-desk")
    await shows(cli_env, pane, "zz-desk")
    # An Enter that comes with the text is a line end to the CLI.
    while not any("zz-desk" in str(one.body) for one in cli_env.model.requests):
        await cli_env.tmux.press(pane, "Enter")
        await anyio.sleep(0.5)
    ended = await house.event(TurnEnded)
    assert str(ended.turn).startswith("desk-")
    assert (await house.fact(Said)).text == "hello desk"


async def an_ask_outlives_the_node(cli_env: GeminiEnv, house: House) -> str:
    """Up to where the node ends; the ask."""
    touches(cli_env, "zz-six", "done")
    await house.say("zz-six")
    return (await house.fact(AskRaised)).ask


async def and_is_answered_once(cli_env: GeminiEnv, house: House, ask: str) -> None:
    """The node after it."""
    await house.answer(ask, "allow")
    assert (await house.fact(AnswerDelivered)).problem == ""
    assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
    assert (cli_env.project / "zz-six.txt").exists()
    raised = [event.fact.ask for event in await house.history() if isinstance(event.fact, AskRaised)]
    assert raised.count(ask) == 1
    assert raised[-1] == ask


async def a_kill_just_before_the_key(cli_env: GeminiEnv, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The node ends while it is about to press the key for an answer."""
    touches(cli_env, "zz-between", "done")
    pressing = anyio.Event()

    async def never(*_: object) -> None:
        pressing.set()
        await anyio.sleep_forever()

    await house.say("zz-between")
    ask = await house.fact(AskRaised)
    with monkeypatch.context() as patched:
        patched.setattr(Tmux, "press", never)
        await house.answer(ask.ask, "allow")
        with anyio.fail_after(240):
            await pressing.wait()
        # Something else is written down, and where the link stands with it.
        file = next((cli_env.folder / "node" / "gemini").glob("home/.gemini/tmp/*/chats/*.jsonl"))
        with file.open("a") as session:
            session.write('{"id":"zz-1","timestamp":"2026-11-16T06:00:00.000Z","type":"warning","content":"hm"}\n')
        assert (await house.fact(Noted)).text == "hm"


async def the_deadline_denies(cli_env: GeminiEnv, house: House) -> None:
    touches(cli_env, "zz-late")
    await house.say("zz-late")
    assert (await house.fact(AskSettled)).how is HowSettled.EXPIRED
    assert (await house.fact(AnswerDelivered)).problem == ""
    assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
    assert not (cli_env.project / "zz-late.txt").exists()


async def modes_models_and_a_cleared_conversation(cli_env: GeminiEnv, house: House) -> None:
    touches(cli_env, "zz-free", "made freely")
    cli_env.model.expect(says("fresh"), prompt="zz-fresh")
    first = house.worker().session
    await house.send(Tune(id=house.id(), worker="ann", mode=Mode.YOLO))
    assert (await house.fact(Tuned)).refused == ""
    await house.say("zz-free")
    ended = await house.event(TurnEnded)
    assert (cli_env.project / "zz-free.txt").exists()
    await house.send(Tune(id=house.id(), worker="ann", model=OTHER_MODEL, mode=Mode.DEFAULT))
    tuned = await house.event(Tuned, after=ended.seq)
    assert isinstance(tuned.fact, Tuned)
    assert tuned.fact.refused == ""
    await house.say("/clear")
    known = await house.fact(SessionKnown, after=tuned.seq)
    cleared = await house.event(TurnEnded, after=tuned.seq)
    assert known.session != first
    await house.say("zz-fresh")
    await house.event(TurnEnded, after=cleared.seq)
    assert house.worker().session == known.session
    assert (await told(house))[-1] == "fresh"
    assert {one.model for one in cli_env.model.requests if "zz-fresh" in str(one.body)} == {OTHER_MODEL}


async def without_its_hook_nothing_runs_and_the_dialog_is_told(cli_env: GeminiEnv, house: House) -> None:
    touches(cli_env, "zz-broken")
    for program in (cli_env.folder / "hooks").glob("farhand-hook.py*"):
        program.write_bytes(b"import os; os.kill(os.getpid(), 9)")
    await house.say("zz-broken")
    noted = await house.fact(Noted, lambda event: "waits in a dialog" in getattr(event.fact, "text", ""))
    assert "touch zz-broken.txt" in noted.text
    await house.interrupt()
    assert (await house.fact(TurnEnded)).how is HowEnded.INTERRUPTED
    assert not (cli_env.project / "zz-broken.txt").exists()


async def test_a_change_of_model_waits_until_the_commands_are_loaded(cli_env: GeminiEnv) -> None:
    """A command that comes before is a prompt to the CLI; one of its files of commands can be read when we let it."""
    slow = cli_env.home / ".gemini" / "commands" / "zz-slow.toml"
    slow.parent.mkdir(parents=True)
    os.mkfifo(slow)
    cli_env.model.expect(says("early enough"), prompt="zz-early")
    async with cli_env.open() as house:
        await hired(house, cli_env)
        await house.send(Tune(id=house.id(), worker="ann", model=OTHER_MODEL, mode=Mode.YOLO))
        pane = await pane_of(cli_env)
        with anyio.fail_after(240):
            # The driver looks whether its commands are offered; a command would be a prompt now.
            while read_box(await cli_env.tmux.capture(pane)) != "/" and not cli_env.model.requests:  # noqa: ASYNC110
                await anyio.sleep(0.1)
        let_read(slow)
        assert (await house.fact(Tuned)).refused == ""
        await house.say("zz-early")
        assert (await house.fact(TurnEnded)).how is HowEnded.COMPLETED
        assert await told(house) == ["early enough"]
    assert not [one for one in cli_env.model.requests if "/model set" in str(one.body)]
    assert {one.model for one in cli_env.model.requests if "zz-early" in str(one.body)} == {OTHER_MODEL}


def let_read(pipe: Path) -> None:
    """Whoever reads the pipe has a command, and whoever does so later a file with one."""
    command = b'description = "one that comes late"\nprompt = "say it"\n'
    writing = os.open(pipe, os.O_RDWR)
    plain = pipe.with_suffix(".plain")
    plain.write_bytes(command)
    plain.rename(pipe)
    os.write(writing, command)
    os.close(writing)


async def test_sessions_are_listed_and_can_be_gone_on_with_at_the_desk(cli_env: GeminiEnv) -> None:
    cli_env.model.expect(says("hello"), prompt="zz-hello")
    async with cli_env.open() as house:
        await hired(house, cli_env, wire="exec")
        await house.say("zz-hello, how are you?")
        await house.event(TurnEnded)
        worker = house.worker()
    driver = cli_env.drivers()["gemini"]
    found = await driver.sessions(str(cli_env.project))  # type: ignore[attr-defined]
    assert [(one.id, one.title, one.directory) for one in found] == [
        (worker.session, "zz-hello, how are you?", str(cli_env.project.resolve()))
    ]
    assert driver.resume_command(worker) == f"cd {cli_env.project} && gemini --resume {worker.session}"  # type: ignore[attr-defined]
    assert await driver.sessions("/nowhere") == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("wire", ["headless", "exec", "tmux"])
async def test_a_conversation_is_the_same_however_often_it_is_taken_up(cli_env: GeminiEnv, wire: str) -> None:
    """A session of the desk, by a worker, by that worker relaunched, and by another one. Taken up in a later minute,
    the CLI begins a new file, leaves it empty and goes on in the old one."""
    talks = [cli_env.model.expect(says(text), prompt=marker) for marker, text in TALK.items()]
    markers, texts = list(TALK), list(TALK.values())
    async with cli_env.open() as house:
        await hired(house, cli_env, wire="exec")
        await goes_on(house, "ann", markers[0])
        session = house.worker().session
        await house.end("ann")
        await house.fact(Ended)
        age(session, cli_env.home / ".gemini", "")
        await taken_up(house, cli_env, "bob", wire, session)
        await goes_on(house, "bob", markers[1])
        await relaunched(house, "bob")
        await goes_on(house, "bob", markers[2])
        age(session, cli_env.home / ".gemini", "")
        await relaunched(house, "bob")
        await goes_on(house, "bob", markers[3])
        assert house.worker("bob").session == session
        await house.end("bob")
        await house.fact(Ended, lambda event: event.worker == "bob")
        age(session, cli_env.home / ".gemini", "")
        await taken_up(house, cli_env, "cleo", wire, session)
        await goes_on(house, "cleo", markers[4])
        assert house.worker("cleo").session == session
        assert await told(house) == texts, "its past is not told again"
    for number, talk in enumerate(talks):
        (asked,) = talk.requests
        assert [text for text in texts[:number] if text not in str(asked.body)] == []
