"""Recordings become text: by a service, by a program, for devices over HTTP, and for whoever speaks on Telegram."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from tests.house.telegram_house import telegram_house

from farhand.channels.kit import texts, voice_notes
from farhand.config.voice import read_voice
from farhand.model.devices import Device
from farhand.model.errors import BadInput, NotTranscribed, SettingWrong
from farhand.model.facts import AskRaised, AskSettled, Queued
from farhand.model.ports import Deliver
from farhand.model.voice import Transcriber, VoiceOptions, is_recording, recording_name
from farhand.model.words import Choice
from farhand.server.callers import Callers
from farhand.server.http import application
from farhand.server.voice_routes import voice_routes
from farhand.testing.http import local_client
from farhand.testing.scripted import ScriptedDriver
from farhand.testing.telegram import FakeBot
from farhand.testing.voice import FakeTranscription, fake_transcription
from farhand.voice.choose import transcriber
from farhand.voice.program import words_of

pytestmark = pytest.mark.anyio
OGG = b"OggS recording"
KEY = "k" * 40


@pytest.fixture
async def service() -> AsyncIterator[FakeTranscription]:
    async with fake_transcription() as fake:
        yield fake


def listener(folder: Path, **options: object) -> Transcriber:
    made = transcriber(replace(VoiceOptions(), **options), folder, {"PATH": "/bin:/usr/bin"})  # type: ignore[arg-type]
    assert made is not None
    return made


def program(folder: Path, source: str) -> str:
    file = folder / "listen.py"
    file.write_text(source)
    return f"{sys.executable} {file}"


async def test_a_service_gets_the_recording_its_model_and_the_key(tmp_path: Path, service: FakeTranscription) -> None:
    service.says = ["  fix the\nparser \x1b[31m "]
    ear = listener(tmp_path, url=service.address, key="sk-1", model="m", language="de")
    assert await ear.transcribe(OGG, "audio/ogg; codecs=opus") == "fix the parser [31m"
    (heard,) = service.heard
    assert (heard.audio, heard.name, heard.media_type) == (OGG, "recording.ogg", "audio/ogg")
    assert (heard.model, heard.language, heard.authorization) == ("m", "de", "Bearer sk-1")


async def test_a_service_that_fails_or_is_not_there_is_told_in_a_sentence(
    tmp_path: Path, service: FakeTranscription
) -> None:
    service.status = 500
    with pytest.raises(NotTranscribed, match="answered 500: The server had an error"):
        await listener(tmp_path, url=service.address).transcribe(OGG, "audio/ogg")
    with pytest.raises(NotTranscribed, match="cannot be reached"):
        await listener(tmp_path, url="http://127.0.0.1:1/v1").transcribe(OGG, "audio/ogg")
    with pytest.raises(NotTranscribed, match="answered 404"):
        await listener(tmp_path, url=f"{service.address}/elsewhere").transcribe(OGG, "audio/ogg")


async def test_a_program_gets_the_file_and_leaves_none_behind(tmp_path: Path) -> None:
    source = "import sys, os, stat\np = sys.argv[-1]\nprint(open(p).read(), oct(stat.S_IMODE(os.stat(p).st_mode)))"
    folder = tmp_path / "voice"
    ear = listener(folder, command=program(tmp_path, source))
    assert await ear.transcribe(OGG, "audio/webm") == "OggS recording 0o600"
    assert list(folder.iterdir()) == []


async def test_a_program_that_fails_or_never_ends_is_told_in_a_sentence(tmp_path: Path) -> None:
    fails = program(tmp_path, "import sys\nsys.exit('no model')")
    with pytest.raises(NotTranscribed, match="ended with 1: no model"):
        await listener(tmp_path / "v", command=fails).transcribe(OGG, "audio/ogg")
    hangs = program(tmp_path, "import time\ntime.sleep(10_000)")
    with pytest.raises(NotTranscribed, match="took more than"):
        await listener(tmp_path / "v", command=hangs, seconds=0.5).transcribe(OGG, "audio/ogg")
    with pytest.raises(NotTranscribed, match="cannot be run"):
        await listener(tmp_path / "v", command="/nowhere/at/all").transcribe(OGG, "audio/ogg")
    chatters = program(tmp_path, "while True: print('x' * 100_000)")
    with pytest.raises(NotTranscribed, match="says too much"):
        await listener(tmp_path / "v", command=chatters).transcribe(OGG, "audio/ogg")


def test_the_words_of_a_program_are_never_a_shells() -> None:
    assert words_of("hear --quick", "/v/a b.ogg", "") == ["hear", "--quick", "/v/a b.ogg"]
    assert words_of("hear -l {language} -f {file} -", "/v/a.ogg", "de") == ["hear", "-l", "de", "-f", "/v/a.ogg", "-"]
    assert words_of("hear; rm", "/v/a.ogg", "") == ["hear;", "rm", "/v/a.ogg"]


def test_only_recordings_have_a_name() -> None:
    assert recording_name("Audio/MP4; codecs=x") == "recording.m4a"
    with pytest.raises(BadInput, match="no recording"):
        recording_name("text/html")


def test_settings_of_the_voice_are_checked() -> None:
    given = {"FARHAND_VOICE_URL": "https://x.example/v1", "FARHAND_VOICE_CONFIRM": "no"}
    options = read_voice(given, {"FARHAND_VOICE_KEY": "sk"})
    assert (options.key, options.confirm, options.model) == ("sk", False, "whisper-1")
    assert "sk" not in repr(options)
    for name, value in (("URL", "x"), ("URL", "http://x.example/v1"), ("CONFIRM", "perhaps"), ("COMMAND", "a 'b")):
        with pytest.raises(SettingWrong, match=f"FARHAND_VOICE_{name}"):
            read_voice({f"FARHAND_VOICE_{name}": value}, {"FARHAND_VOICE_KEY": "sk"})
    assert read_voice({"FARHAND_VOICE_URL": "http://127.0.0.1:9/v1"}, {"FARHAND_VOICE_KEY": "sk"}).url


# --- for devices


class NoDevices:
    """No device is paired."""

    async def recognise(self, _: str) -> None:
        return None


def over_http(ear: Transcriber | None) -> httpx2.AsyncClient:
    callers = Callers(KEY, NoDevices())  # type: ignore[arg-type]
    transport = httpx2.ASGITransport(application(voice_routes(callers, ear)))
    return local_client(transport=transport, base_url="http://node", headers={"Authorization": f"Bearer {KEY}"})


@pytest.mark.parametrize(
    "content",
    [
        b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile /etc/passwd\n",
        b"\xef\xbb\xbf#EXTM3U\n",
        b"<svg/>",
        b"RIFF....AVI ",
        b"O",
        # A decoder passes over the tags of a song and takes what follows for what it is.
        b"ID3\4\0\0\0\0\0\5title#EXTM3U\n",
        b"ID3\4\0\0\0\0\0\0ID3\3\0\x10\0\0\0\1x3DI.......ffconcat version 1.0\n",
        b"ID3\4",
    ],
)
async def test_what_is_no_recording_by_its_bytes_reaches_no_decoder(tmp_path: Path, content: bytes) -> None:
    # A decoder that finds a playlist under the name of a recording opens the files and addresses in it.
    shows = listener(tmp_path / "v", command="cat")
    for media_type in ("audio/ogg", "audio/mp4"):
        with pytest.raises(NotTranscribed, match="no recording"):
            await shows.transcribe(content, media_type)
        with pytest.raises(NotTranscribed, match="no recording"):
            await listener(tmp_path, url="http://127.0.0.1:1/v1").transcribe(content, media_type)


@pytest.mark.parametrize(
    "content",
    [
        b"OggS",
        b"\x1aE\xdf\xa3",
        b"\0\0\0\x18ftypM4A ",
        b"ID3\4\0\0\0\0\0\5title\xff\xfbx",
        b"ID3\4\0\0\0\0\1\0" + bytes(128) + b"\0\0fLaC",
        b"\xff\xfbx",
        b"\xff\xf1x",
        b"RIFF\0\0\0\0WAVE",
        b"fLaC",
        b"#!AMR\n",
    ],
)
def test_every_kind_of_recording_is_known_by_its_bytes(content: bytes) -> None:
    assert is_recording(content)


class RevokedMeanwhile:
    """Knows a device once, and no more."""

    def __init__(self) -> None:
        self._known = [Device(id="1", name="phone", paired_at=0.0)]

    async def recognise(self, _: str) -> Device | None:
        return self._known.pop() if self._known else None


async def test_a_device_that_is_revoked_while_it_speaks_is_not_heard(
    tmp_path: Path, service: FakeTranscription
) -> None:
    callers = Callers(KEY, RevokedMeanwhile())  # type: ignore[arg-type]
    routes = voice_routes(callers, listener(tmp_path, url=service.address))
    transport = httpx2.ASGITransport(application(routes))
    headers = {"Authorization": "Bearer its-key", "Content-Type": "audio/ogg"}
    async with local_client(transport=transport, base_url="http://node", headers=headers) as node:
        assert (await node.post("/api/voice", content=OGG)).status_code == 403
    assert service.heard == []


async def test_a_device_sends_a_recording_and_gets_its_text(tmp_path: Path, service: FakeTranscription) -> None:
    async with over_http(listener(tmp_path, url=service.address, confirm=False)) as node:
        assert (await node.get("/api/voice")).json()["voice"]["ready"] is True
        said = await node.post("/api/voice?language=en", content=OGG, headers={"Content-Type": "audio/webm"})
        assert (said.status_code, said.json()) == (200, {"transcript": {"text": "hello there"}})
        assert (service.heard[0].name, service.heard[0].language) == ("recording.webm", "en")
        service.status = 503
        failed = await node.post("/api/voice", content=OGG, headers={"Content-Type": "audio/webm"})
        assert (failed.status_code, failed.json()["error"]["code"]) == (502, "not_transcribed")


@pytest.mark.parametrize(
    ("query", "content", "media_type", "status"),
    [
        ("", b"", "audio/ogg", 400),
        ("", OGG, "text/plain", 400),
        ("?language=-rf", OGG, "audio/ogg", 400),
        ("", bytes(21 * 1024 * 1024), "audio/ogg", 413),
    ],
)
async def test_what_is_no_recording_is_refused(
    tmp_path: Path, service: FakeTranscription, query: str, content: bytes, media_type: str, status: int
) -> None:
    async with over_http(listener(tmp_path, url=service.address)) as node:
        answer = await node.post(f"/api/voice{query}", content=content, headers={"Content-Type": media_type})
    assert (answer.status_code, service.heard) == (status, [])


async def test_without_anything_set_up_devices_are_told_so_and_strangers_nothing(tmp_path: Path) -> None:
    async with over_http(None) as node:
        state = (await node.get("/api/voice")).json()["voice"]
        assert (state["ready"], "FARHAND_VOICE_URL" in state["why"]) == (False, True)
        answer = await node.post("/api/voice", content=OGG, headers={"Content-Type": "audio/ogg"})
        assert answer.json()["error"]["code"] == "cannot_do"
        for method in ("GET", "POST"):
            stranger = await node.request(method, "/api/voice", content=OGG, headers={"Authorization": "Bearer no"})
            assert stranger.status_code == 403


# --- on Telegram


def delivered(agent: ScriptedDriver) -> list[str]:
    return [errand.message.text for _, errand in agent.performed if isinstance(errand, Deliver)]


async def test_what_was_heard_is_shown_and_goes_when_it_is_sent(
    tmp_path: Path, bot: FakeBot, service: FakeTranscription
) -> None:
    service.says = ["fix the parser"]
    ear = listener(tmp_path, url=service.address)
    async with telegram_house(tmp_path, bot, voice=ear) as telegram:
        await telegram.house.hire()
        said = await telegram.manager.sends_voice(OGG)
        card = await telegram.manager.reads("🎤 I heard: “fix the parser”")
        assert (card.reply_to, card.labels) == (said.message_id, ("Send", "Drop"))
        assert service.heard[0].audio == OGG
        assert delivered(telegram.agent) == []
        await telegram.manager.taps(card, "Send")
        await telegram.manager.reads("answer to fix the parser")
        assert delivered(telegram.agent) == ["fix the parser"]
        await telegram.manager.sees(lambda chat: any(one.deleted for one in chat if "I heard" in one.text))


async def test_what_was_heard_can_be_corrected_or_dropped(
    tmp_path: Path, bot: FakeBot, service: FakeTranscription
) -> None:
    service.says = ["fix the par sir", "drop the data base"]
    async with telegram_house(tmp_path, bot, voice=listener(tmp_path, url=service.address)) as telegram:
        await telegram.house.hire()
        await telegram.manager.sends_voice(OGG)
        card = await telegram.manager.reads("fix the par sir")
        await telegram.manager.says("fix the parser", reply_to=card.message_id)
        await telegram.manager.reads("answer to fix the parser")
        await telegram.manager.sends_voice(OGG)
        await telegram.manager.taps(await telegram.manager.reads("drop the data base"), "Drop")
        await telegram.manager.sees(lambda chat: all(one.deleted for one in chat if "I heard" in one.text))
        assert delivered(telegram.agent) == ["fix the parser"]


async def test_as_a_setting_it_goes_at_once_and_answers_what_is_asked(
    tmp_path: Path, bot: FakeBot, service: FakeTranscription
) -> None:
    service.says = ["start", "yes"]
    ear = listener(tmp_path, url=service.address, confirm=False)
    choices = (Choice(id="go", label="Yes"), Choice(id="no", label="No", allows=False))
    async with telegram_house(tmp_path, bot, voice=ear) as telegram:
        await telegram.house.hire()
        telegram.agent.plays(AskRaised(ask="a", question="Shall I?", choices=choices))
        await telegram.manager.sends_voice(OGG)
        await telegram.manager.reads("🎤 “start”")
        await telegram.manager.reads("Shall I?")
        await telegram.manager.sends_voice(OGG)
        assert (await telegram.house.fact(AskSettled)).choice == "go"


async def test_a_recording_that_cannot_be_heard_is_told_and_nobody_gets_anything(
    tmp_path: Path, bot: FakeBot, service: FakeTranscription
) -> None:
    async with telegram_house(tmp_path, bot, voice=listener(tmp_path, url=service.address)) as telegram:
        await telegram.house.hire()
        service.status = 500
        await telegram.manager.sends_voice(OGG)
        await telegram.manager.reads("answered 500")
        service.status, service.says = 200, [" "]
        await telegram.manager.sends_voice(OGG)
        await telegram.manager.reads(voice_notes.NOTHING_SAID)
        await bot.fault("getFile", code=400, description="Bad Request: file is too big")
        await telegram.manager.sends_voice(OGG)
        await telegram.manager.reads(voice_notes.NOT_FETCHED)
        assert delivered(telegram.agent) == []


async def test_without_anything_set_up_the_manager_is_told(tmp_path: Path, bot: FakeBot) -> None:
    async with telegram_house(tmp_path, bot) as telegram:
        await telegram.house.hire()
        spoken_note = await telegram.manager.sends_voice(OGG)
        assert (await telegram.manager.reads(texts.NOT_HEARD)).reply_to == spoken_note.message_id


async def test_a_recording_that_was_being_heard_is_heard_after_a_restart(
    tmp_path: Path, bot: FakeBot, service: FakeTranscription
) -> None:
    service.says = ["after the restart"]
    ear, agent = listener(tmp_path, url=service.address, confirm=False), ScriptedDriver()
    async with telegram_house(tmp_path, bot, agent=agent, voice=ear) as telegram:
        await telegram.house.hire()
        await bot.fault("download", "hang", times=-1)
        await telegram.manager.sends_voice(OGG)
        await telegram.manager.says("/team")
        await telegram.manager.reads("Your team:")
    await bot.clear_faults()
    async with telegram_house(tmp_path, bot, agent=agent, voice=ear) as telegram:
        await telegram.manager.reads("answer to after the restart")
        queued = [event for event in await telegram.house.history() if isinstance(event.fact, Queued)]
        assert len(queued) == 1
