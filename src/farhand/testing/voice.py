"""A transcription service to test on: OpenAI's protocol on loopback, which hears what a test tells it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from farhand.testing.telegram.cuttable_server import listening

FORMATS = frozenset({"flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm"})


@dataclass(frozen=True)
class HeardRecording:
    """One request as it came."""

    audio: bytes
    name: str
    media_type: str
    model: str
    language: str
    authorization: str


@dataclass
class FakeTranscription:
    """Hears the texts in `says` one after the other, then the last one again; answers `status` when it is no 200."""

    address: str = ""
    says: list[str] = field(default_factory=lambda: ["hello there"])
    status: int = 200
    heard: list[HeardRecording] = field(default_factory=list)

    async def transcribe(self, request: Request) -> Response:
        """As the real one: a form with a file of a known format and a model, JSON as the answer."""
        async with request.form() as form:
            file, model = form.get("file"), form.get("model")
            if not isinstance(file, UploadFile) or not isinstance(model, str):
                return _problem(400, "you must provide a file and a model parameter")
            name = file.filename or ""
            if name.rpartition(".")[2] not in FORMATS:
                return _problem(400, f"Invalid file format. Supported formats: {sorted(FORMATS)}")
            self.heard.append(
                HeardRecording(
                    audio=await file.read(),
                    name=name,
                    media_type=file.content_type or "",
                    model=model,
                    language=str(form.get("language") or ""),
                    authorization=request.headers.get("authorization", ""),
                )
            )
        if self.status != 200:
            return _problem(self.status, "The server had an error while processing your request.")
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        return JSONResponse({"text": said})


def _problem(status: int, message: str) -> Response:
    return JSONResponse({"error": {"message": message, "type": "invalid_request_error", "code": None}}, status)


@contextlib.asynccontextmanager
async def fake_transcription(*says: str) -> AsyncIterator[FakeTranscription]:
    """The service on loopback for as long as the block lasts; its address is what FARHAND_VOICE_URL would be."""
    fake = FakeTranscription()
    if says:
        fake.says = list(says)
    app = Starlette(routes=[Route("/v1/audio/transcriptions", fake.transcribe, methods=["POST"])])
    async with listening(app) as address:
        fake.address = f"{address}/v1"
        yield fake
