"""Routes of workers for devices: what they can do, what can be hired, and a look into the folders that they work in."""

from collections.abc import Awaitable, Callable
from pathlib import PurePath

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from farhand.model.abilities import Choices
from farhand.model.errors import NotAllowed, UnknownWorker
from farhand.model.known_secrets import SecretsInUse
from farhand.model.ports import Hub
from farhand.model.present import Worker
from farhand.model.uploads import image_type
from farhand.model.wire import encode
from farhand.model.workdir import WorkdirDiff, Workdirs
from farhand.server.callers import Callers
from farhand.server.http import number
from farhand.server.pieces import PiecedResponse
from farhand.server.shown_files import was_named

# Reads a file that a worker may show: its path, and the folder that the worker works in.
ReadShown = Callable[[str, Worker], bytes]
WorkerEndpoint = Callable[[Request, Worker], Awaitable[Response]]
_BLOCK = 64 * 1024
_COMMITS = 50


def worker_routes(
    hub: Hub, callers: Callers, choices: Choices, folders: Workdirs, shown: ReadShown, secrets: SecretsInUse
) -> list[BaseRoute]:
    """Everything here only reads. What holds a secret of the node is not shown: with its key, who looks may do all."""

    async def without_secrets(content: bytes) -> None:
        # In small blocks: a search in all of it at once would let nobody else run meanwhile.
        blocks = (content[start : start + _BLOCK] for start in range(0, len(content), _BLOCK))
        if held := await anyio.to_thread.run_sync(lambda: secrets().found_in(blocks)):
            raise NotAllowed(f"This is not shown: it holds a secret of the node, {held}.")

    def of_worker(answer: WorkerEndpoint) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request) -> Response:
            await callers.check(request)
            return await answer(request, await _worker(hub, request.path_params["worker"]))

        return checked

    async def hire(request: Request) -> Response:
        await callers.check(request)
        return _json({"hire": await choices.hire(versions=request.query_params.get("versions") != "0")})

    async def workers(request: Request) -> Response:
        await callers.check(request)
        team = (await hub.look()).workers.values()
        return _json({"workers": [choices.abilities(worker) for worker in team]})

    async def one(_: Request, worker: Worker) -> Response:
        return _json({"worker": choices.abilities(worker)})

    async def tree(request: Request, worker: Worker) -> Response:
        return _json({"tree": await folders.listing(worker, request.query_params.get("path", ""))})

    async def file(request: Request, worker: Worker) -> Response:
        path = request.query_params.get("path", "")
        if request.query_params.get("raw"):
            content = await folders.content(worker, path)
            await without_secrets(content)
            return _download(path, content)
        found = await folders.text(worker, path)
        await without_secrets((found.text or "").encode())
        return _json({"file": found})

    async def status(_: Request, worker: Worker) -> Response:
        return _json({"git": await folders.status(worker)})

    async def commits(request: Request, worker: Worker) -> Response:
        limit = number(request.query_params.get("limit"), "limit")
        return _json({"commits": await folders.commits(worker, _COMMITS if limit is None else limit)})

    async def diff(request: Request, worker: Worker) -> Response:
        found = await _diff(folders, worker, request)
        await without_secrets(found.patch.encode())
        return _json({"diff": found})

    async def shown_file(request: Request, worker: Worker) -> Response:
        path = request.query_params.get("path", "")
        if not await was_named(hub, worker, path):
            raise NotAllowed("No such file was shown by this worker or sent to it.", path=path, worker=worker.name)
        return _download(path, await anyio.to_thread.run_sync(shown, path, worker))

    return [
        Route("/api/hire", hire, methods=["GET"]),
        Route("/api/workers", workers, methods=["GET"]),
        Route("/api/workers/{worker}", of_worker(one), methods=["GET"]),
        Route("/api/workers/{worker}/tree", of_worker(tree), methods=["GET"]),
        Route("/api/workers/{worker}/file", of_worker(file), methods=["GET"]),
        Route("/api/workers/{worker}/git", of_worker(status), methods=["GET"]),
        Route("/api/workers/{worker}/commits", of_worker(commits), methods=["GET"]),
        Route("/api/workers/{worker}/diff", of_worker(diff), methods=["GET"]),
        Route("/api/workers/{worker}/shown", of_worker(shown_file), methods=["GET"]),
    ]


async def _worker(hub: Hub, name: str) -> Worker:
    team = (await hub.look()).workers
    if name not in team:
        raise UnknownWorker(name, known=team)
    return team[name]


async def _diff(folders: Workdirs, worker: Worker, request: Request) -> WorkdirDiff:
    asked = request.query_params
    path = asked.get("path", "")
    if turn := asked.get("turn"):
        return await folders.turn_diff(worker, turn, path)
    if head := asked.get("commit"):
        return await folders.commits_diff(worker, asked.get("base", ""), head, path)
    return await folders.worktree_diff(worker, path)


def _json(value: object) -> Response:
    return Response(encode(value), media_type="application/json", headers={"Cache-Control": "no-store"})


def _download(path: str, content: bytes) -> Response:
    """A file as an answer: a picture is shown as what its bytes say, all else is kept and never run in a page."""
    picture = image_type(content)
    name = "".join(c if c.isascii() and (c.isalnum() or c in "._- ") else "_" for c in PurePath(path).name)[:100]
    headers = {
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Content-Disposition": f'{"inline" if picture else "attachment"}; filename="{name}"',
    }
    return PiecedResponse(content, media_type=picture or "application/octet-stream", headers=headers)
