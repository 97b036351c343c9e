"""Files from a device: in pieces, again after any cut, whole or not at all, and pictures are pictures."""

import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.house.workdir_client import Api, api

from farhand.model.errors import UploadConflict
from farhand.model.facts import Queued
from farhand.model.uploads import CHUNK_BYTES, LARGEST_BYTES, NewUpload
from farhand.server.uploads import MOST_OF_ONE_DEVICE, Uploads, shown_name
from farhand.testing.house import House, open_house

pytestmark = pytest.mark.anyio
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100


@pytest.fixture
async def phone(house: House) -> AsyncIterator[Api]:
    await house.hire("ann")
    async with api(house) as opened:
        yield opened


def _told(**changes: Any) -> dict[str, Any]:
    return {"id": "01JD0UPLOAD", "worker": "ann", "name": "x.txt", "size": 10, "media_type": "text/plain", **changes}


async def _begin(phone: Api, **changes: Any) -> Any:
    return (await phone.client.post("/api/uploads", json=_told(**changes))).json()


async def _put(phone: Api, offset: int, content: bytes, upload: str = "01JD0UPLOAD") -> Any:
    return (await phone.client.put(f"/api/uploads/{upload}", params={"offset": offset}, content=content)).json()


async def test_a_file_comes_in_pieces_and_becomes_an_attachment(house: House, phone: Api) -> None:
    assert (await _begin(phone))["upload"] == {"id": "01JD0UPLOAD", "offset": 0, "size": 10}
    assert (await _put(phone, 0, b"01234"))["upload"]["offset"] == 5
    # A piece whose answer was lost comes again: it is told where the upload stands.
    again = await _put(phone, 0, b"01234")
    assert (again["error"]["code"], again["error"]["details"]["offset"]) == ("upload_conflict", 5)
    assert (await _begin(phone))["upload"]["offset"] == 5
    done = (await _put(phone, 5, b"56789"))["upload"]
    assert done["offset"] == 10
    path = Path(done["attachment"]["path"])
    assert (path.read_bytes(), path.suffix, done["attachment"]["name"]) == (b"0123456789", ".txt", "x.txt")
    assert path.stat().st_mode & 0o077 == 0
    # Whoever missed the last answer gets it again, and nothing is written twice.
    assert (await phone.get("/api/uploads/01JD0UPLOAD"))["upload"] == done
    command = {"type": "say", "id": "s", "worker": "ann", "text": "look", "attachments": [done["attachment"]]}
    assert (await phone.client.post("/api/hub/commands", json=command)).status_code == 200
    assert (await house.fact(Queued)).attachments[0].path == str(path)


def test_a_piece_that_comes_several_times_at_once_is_added_once(tmp_path: Path) -> None:
    """A phone sends a piece again while the first one is still being written; each is a thread of its own."""
    uploads, piece = Uploads(tmp_path, lambda _worker, name, _content: tmp_path / name), b"x" * 100_000
    for number in range(200):
        device, offsets, together = f"d{number}", list[int](), threading.Barrier(8)
        uploads.begin(device, NewUpload(id="01JD0UPLOAD", worker="ann", name="x.txt", size=2 * len(piece)))
        put = partial(_put_at_once, uploads, device, piece, together, offsets)
        threads = [threading.Thread(target=put) for _ in range(together.parties)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert offsets == [len(piece)]


def _put_at_once(uploads: Uploads, device: str, piece: bytes, together: threading.Barrier, offsets: list[int]) -> None:
    together.wait()
    with suppress(UploadConflict):
        offsets.append(uploads.add(device, "01JD0UPLOAD", 0, piece).offset)


async def test_an_upload_goes_on_after_a_restart_of_the_node(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.hire("ann")
        async with api(house) as phone:
            await _begin(phone)
            await _put(phone, 0, b"01234")
    async with open_house(tmp_path) as house, api(house) as phone:
        assert (await phone.get("/api/uploads/01JD0UPLOAD"))["upload"]["offset"] == 5
        assert Path((await _put(phone, 5, b"56789"))["upload"]["attachment"]["path"]).read_bytes() == b"0123456789"


async def test_pictures_are_checked_by_their_bytes(phone: Api) -> None:
    await _begin(phone, size=len(PNG), name="a.jpg", media_type="image/jpeg")
    attachment = (await _put(phone, 0, PNG))["upload"]["attachment"]
    assert attachment["media_type"] == "image/png"
    await _begin(phone, id="22222222", size=20, name="a.png", media_type="image/png")
    assert (await _put(phone, 0, b"<svg onload='evil'/>", "22222222"))["error"]["code"] == "bad_input"
    # Nothing is left of it.
    assert (await phone.get("/api/uploads/22222222"))["error"]["code"] == "unknown_upload"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"size": LARGEST_BYTES + 1}, "too_large"),
        ({"size": 0}, "bad_input"),
        ({"size": -1}, "bad_input"),
        ({"id": "../../etc"}, "bad_input"),
        ({"id": "short"}, "bad_input"),
        ({"worker": "nobody"}, "unknown_worker"),
        ({"worker": "../ann"}, "unknown_worker"),
        ({"media_type": "text/html\r\nX: y"}, "bad_input"),
        ({"name": 7}, "bad_input"),
    ],
)
async def test_what_cannot_be_an_upload(phone: Api, changes: dict[str, Any], code: str) -> None:
    assert (await _begin(phone, **changes))["error"]["code"] == code


async def test_more_than_was_told_is_refused(phone: Api) -> None:
    await _begin(phone)
    assert (await _put(phone, 0, b"0" * 11))["error"]["code"] == "bad_input"
    assert (await _put(phone, 0, b"0" * (CHUNK_BYTES + 1)))["error"]["code"] == "too_large"
    assert (await _put(phone, 0, b"x", "another-one"))["error"]["code"] == "unknown_upload"
    assert (await _put(phone, 0, b"x", "..%5c..%5ckey.json"))["error"]["code"] == "unknown_upload"
    # The same id for another file.
    assert (await _begin(phone, size=11))["error"]["code"] == "upload_conflict"


async def test_a_device_can_only_leave_so_much_behind(phone: Api) -> None:
    for number in range(MOST_OF_ONE_DEVICE):
        assert "upload" in await _begin(phone, id=f"upload-{number:04}")
    assert (await _begin(phone, id="one-too-many"))["error"]["code"] == "upload_conflict"


async def test_what_was_sent_whole_leaves_room_for_more(phone: Api) -> None:
    for number in range(MOST_OF_ONE_DEVICE + 1):
        name = f"upload-{number:04}"
        assert "upload" in await _begin(phone, id=name), number
        assert (await _put(phone, 0, b"0123456789", name))["upload"]["attachment"]


def test_a_name_is_shown_without_what_hides_in_it() -> None:
    assert shown_name("../../x.txt") == "x.txt"
    assert shown_name("C:\\a\\b.png") == "b.png"
    assert shown_name("a\u202egnp.exe\n") == "agnp.exe"
    assert shown_name("Bild 9.41\u202fAM.png") == "Bild 9.41 AM.png"
    assert shown_name("/") == "file"
    assert len(shown_name("x" * 500)) == 120
