"""Text that is typed into a pane of a real tmux arrives byte for byte, and nothing half typed is sent with it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from tests.live.tmux.typed import BOX, read_box, shown, submitted, until
from tests.spec.promises import promise

from farhand.drivers.claude.tmux.keyboard import ClaudeKeyboard
from farhand.drivers.wires.tmux import Pane, Tmux
from farhand.drivers.wires.tmux.submit import BoxOptions, Doubtful, Occupied, Submitted, submit
from farhand.model.ports import Outcome, Taken

pytestmark = pytest.mark.anyio
TEXTS = [
    "plain",
    "-n looks like an option",
    "--",
    "ends with a semicolon;",
    ";",
    "ends with a backslash\\",
    "two\\\\",
    " spaces around ",
    "$HOME `id` $(id) #{pane_id} #S %1 ~ ~root",
    "quotes ' \" '' \"\"",
    "line one\nline two\n\nline four",
    "trailing newline\n",
    "Enter",
    "C-c",
    "tab\there",
    "é 漢字 🎉 👩‍👩‍👧 \u202eabc",
    "%end 1 2 1",
    "{ braces } # and a comment",
    "x" * 20000,
]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text[:16]))
async def test_text_arrives_verbatim(tmux: Tmux, typist: Pane, short_folder: Path, text: str) -> None:
    assert await submit(tmux, typist, text, BOX) == Submitted()
    await until(lambda: bool(submitted(short_folder)))
    assert submitted(short_folder) == [text]


async def test_a_paste_is_bracketed_and_enter_comes_after_it(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    await submit(tmux, typist, "a\nb", BOX)
    await until(lambda: bool(submitted(short_folder)))
    assert (short_folder / "bytes").read_bytes() == b"\x1b[200~a\nb\x1b[201~\r"


async def test_a_message_cannot_leave_its_paste(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    await submit(tmux, typist, "a\x1b[201~\x03b\r\nc\x9b", BOX)
    await until(lambda: bool(submitted(short_folder)))
    assert submitted(short_folder) == ["a\u241b[201~\u2403b\nc\ufffd"]


async def test_slash_commands_are_typed(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    await submit(tmux, typist, "/model -x;", BOX, keys=True)
    await until(lambda: bool(submitted(short_folder)))
    assert (short_folder / "bytes").read_bytes() == b"/model -x;\r"


async def test_a_screen_that_is_drawn_anew_does_not_pass_for_a_message_that_was_sent(
    tmux: Tmux, typist: Pane, short_folder: Path
) -> None:
    # Empty before, the text in it twice, once more before Enter; then no box for some looks, and the text again.
    looks = iter(["", "text", "text", "text", *[None] * 5])
    options = BoxOptions(
        read_box=lambda _: next(looks, "text"), holds=lambda box, text: box == text, timeout_seconds=0.5
    )
    assert isinstance(await submit(tmux, typist, "text", options), Doubtful)


async def test_a_box_that_a_dialog_has_taken_the_place_of_is_gone(tmux: Tmux, typist: Pane) -> None:
    looks = iter(["", "text", "text", "text"])
    options = BoxOptions(read_box=lambda _: next(looks, None), holds=lambda box, text: box == text, away_seconds=0.1)
    assert await submit(tmux, typist, "text", options) == Submitted()


async def test_what_is_half_typed_is_put_aside_and_comes_back(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    await tmux.type(typist, "half a thought")
    await shown(tmux, typist, "half a thought")
    await submit(tmux, typist, "from the phone", BOX)
    await until(lambda: bool(submitted(short_folder)))
    assert submitted(short_folder) == ["from the phone"]
    await shown(tmux, typist, "half a thought")


async def test_what_cannot_be_put_aside_is_left_alone(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    await tmux.type(typist, "half a thought")
    await shown(tmux, typist, "half a thought")
    result = await submit(tmux, typist, "from the phone", BoxOptions(read_box=read_box, timeout_seconds=60))
    assert isinstance(result, Occupied)
    assert (short_folder / "bytes").read_bytes() == b"half a thought"


async def test_a_command_that_the_agent_refuses_was_sent_though_it_stands_in_the_box_again(
    tmux: Tmux, typist: Pane, short_folder: Path
) -> None:
    looks = iter([""])
    options = BoxOptions(
        read_box=lambda _: next(looks, "/zed"),
        holds=lambda box, text: box == text,
        # One is there already; the next one is for this command.
        refusals=lambda _: 2 if submitted(short_folder) else 1,
    )
    assert await submit(tmux, typist, "/zed", options, keys=True) == Submitted()
    assert (short_folder / "bytes").read_bytes().count(b"\r") == 1


@pytest.mark.parametrize("half_drawn", [["sent before"], ["sent before", "sent be", None, "or so"]])
async def test_a_screen_that_is_drawn_late_is_nobodys_draft(
    tmux: Tmux, typist: Pane, half_drawn: list[str | None]
) -> None:
    # What the screen of a busy machine shows first; then the box is empty, as it was all the time.
    looks = iter([*half_drawn, "", "", "text", "text", "text"])
    options = BoxOptions(
        read_box=lambda _: next(looks, ""), holds=lambda box, text: box == text, delete_line="C-u", box_seconds=60
    )
    assert await submit(tmux, typist, "text", options) == Submitted()


async def test_what_is_typed_in_the_same_moment_is_not_sent(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    # The look before the paste comes a moment too early to see the typing.
    blind = iter([""])
    await tmux.type(typist, "half a thought")
    await shown(tmux, typist, "half a thought")
    options = BoxOptions(
        read_box=lambda screen: next(blind, read_box(screen)),
        holds=lambda box, text: box.startswith(text),
        timeout_seconds=5,
    )
    assert isinstance(await submit(tmux, typist, "from the phone", options), Doubtful)
    assert submitted(short_folder) == []


async def test_without_a_box_nothing_is_typed(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    result = await submit(tmux, typist, "text", BoxOptions(read_box=lambda _: None, timeout_seconds=0.2))
    assert isinstance(result, Occupied)
    assert not (short_folder / "bytes").exists()


async def test_a_text_that_stays_in_the_box_is_doubtful(tmux: Tmux, typist: Pane) -> None:
    boxes = iter([""])
    result = await submit(
        tmux, typist, "text", BoxOptions(read_box=lambda _: next(boxes, "stuck"), timeout_seconds=0.2)
    )
    assert isinstance(result, Doubtful)


@promise("security.5")
async def test_messages_at_once_into_one_pane_do_not_mix(tmux: Tmux, typist: Pane, short_folder: Path) -> None:
    keyboard = ClaudeKeyboard(tmux, typist, BOX)
    messages = [f"{number} " + f"word{number}\n" * 300 + str(number) for number in range(6)]
    outcomes: list[Outcome] = []

    async def say(text: str) -> None:
        outcomes.append(await keyboard.submit(text))

    async with anyio.create_task_group() as tasks:
        for message in messages:
            tasks.start_soon(say, message)
    assert outcomes == [Taken()] * len(messages)
    await until(lambda: len(submitted(short_folder)) == len(messages))
    assert sorted(submitted(short_folder)) == messages
