"""The routes for workers' own programs: `/response`, `/notify`, `/workers`. Who may call them is decided elsewhere."""

import shlex
import uuid
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from farhand.channels.files.answer_pace import AnswerPace
from farhand.channels.files.repeats import FORWARDER, LastAnswers
from farhand.channels.files.sessions import SessionFiles
from farhand.model.body_limits import read_bounded
from farhand.model.channel_ports import ChannelContext
from farhand.model.commands import Respond
from farhand.model.compat import PLAIN_SOURCES
from farhand.model.errors import BadInput, Refused
from farhand.model.http_guard import bearer
from farhand.model.names import normalize
from farhand.model.present import Present, Worker
from farhand.model.words import Sender
from farhand.model.worker_keys import SCOPE_NODE_KEY, SCOPE_WORKER, VIA_KEY, VIA_WORKERS

LARGEST_BODY = 4_000_000
TOO_MANY = "Too many within a minute: send it again later"


class ResponseBody(msgspec.Struct):
    """The body of `/response`."""

    session: str = ""
    text: str = ""
    escape: bool = False
    source: str | None = None
    # Names the answer, so that a repeat is not a second one.
    id: str | int | None = None


class News(msgspec.Struct):
    """The body of `/notify`."""

    text: str = ""


class WorkerRoutes:
    """What the node's HTTP listener serves for workers' programs."""

    def __init__(self, context: ChannelContext, sessions: SessionFiles, answers: LastAnswers, pace: AnswerPace) -> None:
        self._hub = context.hub
        self._peers = context.peers
        self._sessions = sessions
        self._answers = answers
        self._prefix = context.tmux_prefix
        self._terminals = context.terminals
        self._pace = pace

    def routes(self) -> list[Route]:
        """The routes."""
        return [
            Route("/response", self.response, methods=["POST"]),
            Route("/notify", self.notify, methods=["POST"]),
            Route("/workers", self.workers, methods=["GET"]),
        ]

    async def response(self, request: Request) -> Response:
        """An answer of a worker: written down, then sent."""
        answer = _read(await read_bounded(request.stream(), LARGEST_BODY), ResponseBody)
        if answer is None or not answer.session or not answer.text.strip():
            return Response("Missing session or text", 400)
        if speaking(request) not in ("", answer.session):
            return Response("That key is another worker's", 403)
        if self._too_many(speaking(request)):
            return Response(TOO_MANY, 429)
        name, present = answer.session, await self._hub.look()
        if normalize(name) != name or name not in present.workers or not self._sessions.has_chat(name):
            return Response("No chat for that session", 404)
        if hiring(request) not in ("", present.workers[name].hiring_id):
            # The worker that the key was of has left while the request was being sent.
            return Response("That key is another worker's", 403)
        if await self._is_repeat(request, answer):
            self._sessions.clear(name)
            return Response("OK")
        plain = answer.escape or answer.source in PLAIN_SOURCES
        identity = f"{name}:{answer.id}" if answer.id is not None else uuid.uuid4().hex
        command = Respond(id=identity, worker=name, text=answer.text, html=not plain)
        try:
            await self._hub.send(command, Sender(via=via(request), who=name))
        except BadInput as error:
            return Response(error.text, 400)
        except Refused as error:
            return Response(error.text, 404)
        self._sessions.clear(name)
        return Response("OK")

    async def _is_repeat(self, request: Request, answer: ResponseBody) -> bool:
        """Whether a Stop hook of the original posts what the worker's own session has told already."""
        if answer.id is not None or answer.source or not request.headers.get("user-agent", "").startswith(FORWARDER):
            return False
        return await self._answers.has(answer.session, answer.text)

    async def notify(self, request: Request) -> Response:
        """Something that everybody should know."""
        news = _read(await read_bounded(request.stream(), LARGEST_BODY), News)
        if news is None or not news.text.strip():
            return Response("Missing text", 400)
        worker = speaking(request)
        if self._too_many(worker):
            return Response(TOO_MANY, 429)
        # What comes with a worker's key says whose it is: it must not pass for the node's own word.
        await self._peers.notify(f"{worker}: {news.text}" if worker else news.text)
        return Response("OK")

    def _too_many(self, worker: str) -> bool:
        """Whether this one is more than a worker's programs may send now."""
        return bool(worker) and not self._pace.take(worker)

    async def workers(self, _: Request) -> Response:
        """Who is on the team, and how to speak to them."""
        return JSONResponse({"workers": self.listed(await self._hub.look())})

    def listed(self, present: Present) -> list[dict[str, Any]]:
        """The team for programs."""
        return [self._entry(worker) for worker in present.workers.values() if not worker.ending]

    def _entry(self, worker: Worker) -> dict[str, Any]:
        pipe = str(self._sessions.worker_files.pipe(worker.name))
        # By the pipe for those in a terminal, too: keys that are typed there are taken for the manager's at the desk.
        example = f"echo 'your message' > {shlex.quote(pipe)}"
        if worker.kind in self._terminals:
            address = f"{self._prefix}{worker.name}"
            return {"name": worker.name, "protocol": "tmux", "address": address, "send_example": example}
        return {"name": worker.name, "protocol": "pipe", "address": pipe, "send_example": example}


def speaking(request: Request) -> str:
    """The worker whose key the request had; empty for a caller that needs none."""
    return str(request.scope.get(SCOPE_WORKER, ""))


def via(request: Request) -> str:
    """The name whose ids an answer uses: that of workers' programs, or of whoever has the node's key."""
    return VIA_KEY if request.scope.get(SCOPE_NODE_KEY) else VIA_WORKERS


def hiring(request: Request) -> str:
    """The hiring whose key the request had; empty for a caller that needs none."""
    return bearer(request.headers).rpartition(".")[0] if speaking(request) else ""


def _read(body: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
