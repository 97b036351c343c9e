"""Who may use the remote control: programs of this user on this machine, and whoever has the key where one is set."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from farhand.model.http_guard import has_bearer, why_refused
from farhand.model.logger import get_logger
from farhand.remote.shapes import PROBLEM

log = get_logger("remote")
# Whether the program at the other end of a TCP connection runs as our own user.
OwnUser: TypeAlias = Callable[[tuple[str, int], tuple[str, int | None] | None], bool]


class RemoteGuard:
    """Stands before every path, those that do not exist included. A foreign Host or Origin is refused with a key, too:
    a page in a browser is not the person."""

    def __init__(self, app: ASGIApp, key: str, own_user: OwnUser) -> None:
        self._app = app
        self._key = key
        self._own_user = own_user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets the request through, or answers it."""
        if scope["type"] != "http":
            return
        status, why = self._refusal(scope)
        if not status:
            await self._app(scope, receive, send)
            return
        log.warning("refused", path=scope["path"], why=why)
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        told = JSONResponse(problem(status, f"Refused: {why}."), status, headers, media_type=PROBLEM)
        await told(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str]:
        # Of a header that comes twice the first counts, as everywhere.
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}
        caller = scope.get("client")
        # Told without the key: it does not excuse another site.
        if why := why_refused(headers, caller[0] if caller else None, ""):
            return 403, why
        if self._key:
            return (0, "") if has_bearer(headers, self._key) else (401, "the key is missing or wrong")
        if caller and not self._own_user((caller[0], caller[1]), scope.get("server")):
            return 403, "another user of this machine"
        return 0, ""


def problem(status: int, detail: str, code: str = "refused") -> dict[str, object]:
    """An error as programs of both kinds read it: `detail` and `status` of RFC 9457, and our own code and sentence."""
    return {"status": status, "title": code, "detail": detail, "error": {"code": code, "text": detail}}
