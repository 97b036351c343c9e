"""Recordings of devices → text: nothing of it is kept, and no worker is told."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.body_limits import read_bounded
from farhand.model.errors import BadInput, CannotDo
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.uploads import LARGEST_BYTES
from farhand.model.voice import NOT_SET_UP, Transcriber, VoiceTranscript, recording_name, state_of
from farhand.model.wire import encode
from farhand.server.callers import Callers

_LANGUAGE = lazy_pattern(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})?")


def voice_routes(callers: Callers, transcriber: Transcriber | None) -> list[BaseRoute]:
    """`GET /api/voice`: whether recordings are taken; `POST /api/voice`: what is said in one."""

    async def look(request: Request) -> Response:
        await callers.check(request)
        return _answer({"voice": state_of(transcriber)})

    async def listen(request: Request) -> Response:
        await callers.check(request, writes=True)
        media_type = request.headers.get("content-type", "")
        recording_name(media_type)
        if transcriber is None:
            raise CannotDo(NOT_SET_UP)
        audio = await read_bounded(request.stream(), LARGEST_BYTES, "A recording")
        if not audio:
            raise BadInput("There is no recording in that request.")
        # Who sent it may have been revoked while the rest of it came.
        await callers.check(request, writes=True)
        language = request.query_params.get("language", "")
        if language and not _LANGUAGE.fullmatch(language):
            raise BadInput("'language' is like en or de.")
        return _answer({"transcript": VoiceTranscript(text=await transcriber.transcribe(audio, media_type, language))})

    return [Route("/api/voice", look, methods=["GET"]), Route("/api/voice", listen, methods=["POST"])]


def _answer(content: object) -> Response:
    return Response(encode(content), media_type="application/json", headers={"Cache-Control": "no-store"})
