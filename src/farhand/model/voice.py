"""Speech to text: how it is set up, who does it, and what devices are told of it."""

from dataclasses import dataclass, field
from typing import Protocol

from farhand.model.errors import BadInput, NotTranscribed
from farhand.model.uploads import LARGEST_BYTES
from farhand.model.visible import without_controls
from farhand.model.words import Word

LONGEST_TRANSCRIPT = 20_000
NOT_SET_UP = (
    "Nothing here can listen to recordings. Set FARHAND_VOICE_URL to a transcription service, or FARHAND_VOICE_COMMAND "
    "to a program, when you start the node."
)
# How a recording of that type is called: services know a format by its name.
_SUFFIXES = {
    "audio/ogg": ".ogg",
    "audio/opus": ".ogg",
    "audio/webm": ".webm",
    "video/webm": ".webm",
    "audio/mp4": ".m4a",
    "audio/m4a": ".m4a",
    "audio/x-m4a": ".m4a",
    "audio/aac": ".m4a",
    "video/mp4": ".mp4",
    "audio/mpeg": ".mp3",
    "audio/mp3": ".mp3",
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "audio/wave": ".wav",
    "audio/flac": ".flac",
    "audio/amr": ".amr",
}
# How they begin: Ogg, Matroska and WebM, MP3, AAC, FLAC, AMR.
_BEGINNINGS = (
    b"OggS",
    b"\x1aE\xdf\xa3",
    *(b"\xff" + bytes([sync]) for sync in range(0xE0, 0x100)),
    b"fLaC",
    b"#!AMR",
)


@dataclass(frozen=True)
class VoiceOptions:
    """How recordings become text: a service at `url`, or a `command`; neither, and they do not."""

    url: str = ""
    key: str = field(default="", repr=False)
    model: str = "whisper-1"
    language: str = ""
    command: str = ""
    # Whether a person reads the transcript before it goes to a worker.
    confirm: bool = True
    seconds: float = 120.0


class VoiceState(Word):
    """What a device is told: whether it may send recordings, and whether their text is to be read before it is sent."""

    ready: bool
    confirm: bool
    largest_bytes: int
    why: str


class VoiceTranscript(Word):
    """What was said in a recording; empty when nothing was."""

    text: str


class Transcriber(Protocol):
    """Listens to recordings."""

    @property
    def confirm(self) -> bool:
        """Whether a person reads the transcript before it goes to a worker."""
        ...

    async def transcribe(self, audio: bytes, media_type: str, language: str = "") -> str:
        """What was said; raises NotTranscribed with a sentence."""
        ...


def state_of(transcriber: Transcriber | None) -> VoiceState:
    """What is told of a transcriber, or of there being none."""
    if transcriber is None:
        return VoiceState(ready=False, confirm=True, largest_bytes=LARGEST_BYTES, why=NOT_SET_UP)
    return VoiceState(ready=True, confirm=transcriber.confirm, largest_bytes=LARGEST_BYTES, why="")


def recording_name(media_type: str) -> str:
    """What a recording of that type is called; BadInput for a type that is none of a recording."""
    plain = media_type.partition(";")[0].strip().lower()
    if plain not in _SUFFIXES:
        raise BadInput(f"'{plain[:60]}' is no recording: send audio, as audio/ogg, audio/webm or audio/mp4.")
    return f"recording{_SUFFIXES[plain]}"


def is_recording(audio: bytes) -> bool:
    """Whether it is one by its bytes: a decoder that finds a list of files under such a name would open them."""
    audio = _without_titles(audio)
    return audio.startswith(_BEGINNINGS) or audio[4:8] == b"ftyp" or (audio[:4], audio[8:12]) == (b"RIFF", b"WAVE")


def _without_titles(audio: bytes) -> bytes:
    """The recording behind its ID3 tags: a decoder passes over them, and takes what follows for what it is."""
    start = 0
    while audio[start : start + 3] == b"ID3" and len(audio) >= start + 10:
        head = audio[start : start + 10]
        size = (head[6] & 127) << 21 | (head[7] & 127) << 14 | (head[8] & 127) << 7 | head[9] & 127
        start += 10 + size + (10 if head[5] & 0x10 else 0)
    return audio[start:] if not start else audio[start:].lstrip(b"\0")


def refuse_others(audio: bytes) -> None:
    """Raises NotTranscribed for what is no recording by its bytes."""
    if not is_recording(audio):
        raise NotTranscribed("That is no recording that can be listened to.")


def as_transcript(text: str) -> str:
    """What a service or a program said it heard, as one may show it: nothing hidden, and not without end."""
    return without_controls(" ".join(text.split()))[:LONGEST_TRANSCRIPT]
