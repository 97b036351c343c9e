"""Files shown by a tag in an agent's words, and which of them may be sent."""

from __future__ import annotations

from pathlib import Path, PurePath

import msgspec
import pytest

from farhand.drivers.claude.stream import StreamState, translate_stream
from farhand.drivers.wires.sending import checked
from farhand.drivers.wires.shown import refusal, split_shown
from farhand.model.facts import Noted, Said, Showed
from farhand.model.ports import Heard
from farhand.model.words import Attachment


@pytest.mark.parametrize(
    ("text", "words", "paths"),
    [
        ("no tag", "no tag", []),
        ("look: [[image:/tmp/a.png|the plot]] nice", "look:  nice", ["/tmp/a.png"]),
        ("[[file:/a/b c.md]][[image:/x.jpg]]", "", ["/a/b c.md", "/x.jpg"]),
        (r"\[[image:/tmp/a.png]]", r"\[[image:/tmp/a.png]]", []),
        ("`[[image:/tmp/a.png]]` is how", "`[[image:/tmp/a.png]]` is how", []),
        ("```\n[[file:/a.md]]\n``` [[file:/b.md]]", "```\n[[file:/a.md]]\n``` ", ["/b.md"]),
        ("```\nnever closed [[file:/a.md]]", "```\nnever closed [[file:/a.md]]", []),
        ("[[other:/a]] [[image:]] [[image:/a", "[[other:/a]] [[image:]] [[image:/a", []),
    ],
)
def test_tags_become_files_except_in_code(text: str, words: str, paths: list[str]) -> None:
    kept, files = split_shown(text)
    assert (kept, [file.path for file in files]) == (words, paths)


def test_a_tag_keeps_its_caption_and_its_kind() -> None:
    _, (file,) = split_shown("[[image:/tmp/a.png| the plot ]]")
    assert file == Attachment(path="/tmp/a.png", name="a.png", media_type="image/png", caption="the plot")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/tmp/a.png", True),
        ("/srv/a.PNG", True),
        ("/etc/a.png", False),
        ("/anywhere/notes.md", True),
        ("/etc/shadow", False),
        ("/home/x/.ssh/id_rsa", False),
        ("/home/x/server.pem", False),
        ("/home/x/.env.local", False),
        ("/home/x/.ENV", False),
        ("/home/x/credentials", False),
        ("/home/x/archive.zip", False),
    ],
)
def test_only_what_may_leave_leaves(path: str, allowed: bool) -> None:
    assert (refusal(PurePath(path), [PurePath("/tmp"), PurePath("/srv")]) == "") == allowed


def test_a_link_to_a_secret_is_a_secret(tmp_path: Path) -> None:
    secret, link, honest = tmp_path / "id_rsa", tmp_path / "innocent.md", tmp_path / "notes.md"
    secret.write_text("private")
    link.symlink_to(secret)
    honest.write_text("public")
    for path, sent in ((link, False), (honest, True), (tmp_path / "absent.md", False)):
        heard = checked(Heard(fact=Showed(file=Attachment(path=str(path)))), [tmp_path])
        assert isinstance(heard.fact, Showed) == sent
        assert sent or isinstance(heard.fact, Noted)


def test_a_tag_that_is_streamed_piece_by_piece_is_never_said() -> None:
    text = "see [[image:/tmp/a.png]] there [x] and a[0]"
    state, facts = StreamState(running=True, turn="t"), []
    start = {"type": "stream_event", "event": {"type": "content_block_start"}}
    pieces = [
        {"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"text": letter}}} for letter in text
    ]
    whole = {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}
    for record in [start, *pieces, whole]:
        heard, state = translate_stream(msgspec.json.encode(record), state)
        facts += [one.fact for one in heard]
    assert "".join(fact.text for fact in facts if isinstance(fact, Said)) == "see  there [x] and a[0]"
    assert [fact.file.path for fact in facts if isinstance(fact, Showed)] == ["/tmp/a.png"]
