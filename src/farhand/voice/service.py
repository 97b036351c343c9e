"""Asks a transcription service: one multipart POST to an address that speaks OpenAI's protocol."""

import msgspec

from farhand.model.body_limits import read_bounded
from farhand.model.errors import NotTranscribed, TooLarge
from farhand.model.voice import VoiceOptions, as_transcript, recording_name, refuse_others

LARGEST_ANSWER = 1_000_000
WHY_CHARACTERS = 200
PATH = "/audio/transcriptions"


class _Heard(msgspec.Struct):
    text: str


class _Problem(msgspec.Struct):
    message: str = ""


class _Failed(msgspec.Struct):
    error: _Problem


class ServiceTranscriber:
    """One service. The key goes to that address and, as no redirection is followed, to no other."""

    def __init__(self, options: VoiceOptions) -> None:
        self._options = options
        self.confirm = options.confirm

    async def transcribe(self, audio: bytes, media_type: str, language: str = "") -> str:
        """What was said; raises NotTranscribed."""
        refuse_others(audio)
        # Loaded when somebody speaks: most nodes never do.
        import httpx2

        name = recording_name(media_type)
        spoken = language or self._options.language
        fields = {"model": self._options.model, "response_format": "json", **({"language": spoken} if spoken else {})}
        headers = {"Authorization": f"Bearer {self._options.key}"} if self._options.key else {}
        plain = media_type.partition(";")[0].strip()
        try:
            async with (
                httpx2.AsyncClient(timeout=self._options.seconds, headers=headers) as client,
                client.stream("POST", self._address, data=fields, files={"file": (name, audio, plain)}) as answer,
            ):
                status, body = answer.status_code, await read_bounded(answer.aiter_bytes(), LARGEST_ANSWER)
        except httpx2.HTTPError as error:
            raise NotTranscribed(f"The transcription service cannot be reached: {_named(error)}.") from None
        except TooLarge:
            raise NotTranscribed("The transcription service's answer is too long to be one.") from None
        return _transcript(status, body)

    @property
    def _address(self) -> str:
        return f"{self._options.url.rstrip('/').removesuffix(PATH)}{PATH}"


def _named(error: Exception) -> str:
    return str(error).strip().rstrip(".")[:WHY_CHARACTERS] or type(error).__name__


def _transcript(status: int, body: bytes) -> str:
    try:
        if status == 200:
            return as_transcript(msgspec.json.decode(body, type=_Heard).text)
        why = msgspec.json.decode(body, type=_Failed).error.message
    except (msgspec.MsgspecError, UnicodeDecodeError):
        why = "its answer cannot be read" if status == 200 else ""
    said = f": {as_transcript(why)[:WHY_CHARACTERS].rstrip('.')}" if why else ""
    raise NotTranscribed(f"The transcription service answered {status}{said}.")
