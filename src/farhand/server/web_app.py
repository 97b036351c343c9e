"""The phone app's own files: the page, its scripts, styles and icons, as `make web` built them. They hold no data."""

import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from farhand.server.pieces import PiecedResponse

FILES = Path(__file__).parent / "app_files"
NOT_BUILT = "The phone app is not built here: run `make web` in the checkout, then load this page again.\n"
INDEX = "index.html"
# A hashed name never means another file.
HASHED = "assets/"
FOREVER = "public, max-age=31536000, immutable"
CHECKED_EACH_TIME = "no-cache"
# Best first.
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
    ".png": "image/png",
}
# What an agent wrote is shown on these pages: nothing may run, load or be sent anywhere but from and to this node.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "manifest-src 'self'",
        "worker-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(self), geolocation=(), payment=(), usb=()",
}


@dataclass(frozen=True)
class AppFile:
    """One file, with the same compressed where the build did that."""

    path: Path
    tag: str
    encoded: Mapping[str, Path]


class WebApp:
    """The files of one build, read anew when there is another."""

    def __init__(self, folder: Path = FILES) -> None:
        self._folder = folder
        self._built: float = -1.0
        self._files: dict[str, AppFile] = {}

    def files(self) -> Mapping[str, AppFile]:
        """Every file by its name; none where the app is not built. Only names that are listed here are ever opened."""
        try:
            built = (self._folder / INDEX).stat().st_mtime
        except OSError:
            return {}
        if built != self._built:
            self._files, self._built = _read(self._folder), built
        return self._files


def _read(folder: Path) -> dict[str, AppFile]:
    found = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    names = {path.relative_to(folder).as_posix(): path for path in found}
    endings = tuple(ending for _, ending in ENCODINGS)
    return {
        name: AppFile(
            path=path,
            tag=f'"{hashlib.sha256(path.read_bytes()).hexdigest()[:32]}"',
            encoded={coding: names[name + ending] for coding, ending in ENCODINGS if name + ending in names},
        )
        for name, path in names.items()
        if not name.endswith(endings)
    }


def web_app_routes(app: WebApp | None = None) -> list[BaseRoute]:
    """`/app/`, for anybody: what is shown there comes over the API, which asks for a device."""
    built = app or WebApp()

    async def to_app(_: Request) -> Response:
        return RedirectResponse("/app/", status_code=308, headers=HEADERS)

    async def file(request: Request) -> Response:
        files = built.files()
        if not files:
            return PlainTextResponse(NOT_BUILT, 503, headers={**HEADERS, "Cache-Control": "no-store"})
        name = request.path_params.get("path", "") or INDEX
        # Every screen of the app is the one page.
        found = files.get(name) or (files[INDEX] if "." not in name and not name.startswith(HASHED) else None)
        if found is None:
            return PlainTextResponse("There is no such file.\n", 404, headers=HEADERS)
        return _response(request, name, found)

    return [
        Route("/app", to_app),
        Route("/app/", file),
        Route("/app/{path:path}", file),
    ]


def _response(request: Request, name: str, found: AppFile) -> Response:
    headers = {
        **HEADERS,
        "Cache-Control": FOREVER if name.startswith(HASHED) else CHECKED_EACH_TIME,
        "ETag": found.tag,
        "Vary": "Accept-Encoding",
    }
    if found.tag in [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    accepted = {one.partition(";")[0].strip() for one in request.headers.get("accept-encoding", "").split(",")}
    coding = next((coding for coding, _ in ENCODINGS if coding in accepted and coding in found.encoded), "")
    if coding:
        headers["Content-Encoding"] = coding
    path = found.encoded[coding] if coding else found.path
    return PiecedResponse(_content(path, found.tag), headers=headers, media_type=_type_of(found.path))


@lru_cache(maxsize=256)
def _content(path: Path, _tag: str) -> bytes:
    """The bytes of a file as it was when it had that tag: one copy for all who read it."""
    return path.read_bytes()


def _type_of(path: Path) -> str:
    return TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
