"""Gemini on Vertex AI over REST: a project and a location with tokens that expire, or an API key alone."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any, TypeAlias
from urllib.parse import quote

from farhand.sdk.errors import NoKey
from farhand.sdk.models import Request
from farhand.sdk.models.gemini import GeminiModel
from farhand.sdk.models.http import Wire

Token: TypeAlias = str | Callable[[], str | Awaitable[str]]
SCOPE = "https://www.googleapis.com/auth/cloud-platform"


class VertexModel(GeminiModel):
    """Asks `{base_url}/{version}/projects/…/locations/…/publishers/google/models/{model}:…`.

    `token` is an access token, or a function, sync or async, that is called before each request and returns one that
    is fresh. Without it the machine's own login is used (the extra `farhand[vertex]`). With an `api_key`, no project
    is needed.
    """

    def __init__(
        self,
        project: str = "",
        location: str = "global",
        *,
        token: Token | None = None,
        api_key: str = "",
        base_url: str = "",
        version: str = "v1",
        headers: Mapping[str, str] | None = None,
        timeout_seconds: float = 300.0,
        **options: Any,
    ) -> None:
        if not project and not api_key:
            raise NoKey(
                "Vertex needs a project and a login, or an API key: set GOOGLE_CLOUD_PROJECT or GOOGLE_API_KEY."
            )
        self._version = version
        self._token: Token = token or ("" if api_key else machine_login())
        self._place = "" if api_key else f"/projects/{quote(project, safe='')}/locations/{quote(location, safe='')}"
        keyed = {"x-goog-api-key": api_key} if api_key else {}
        self._wire = Wire(
            base_url or _address(location),
            {**keyed, **(headers or {})},
            timeout_seconds=timeout_seconds,
            authorize=None if api_key else self._authorization,
            **options,
        )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], **options: Any) -> VertexModel:
        """From the variables that the CLI reads."""
        project = environ.get("GOOGLE_CLOUD_PROJECT") or environ.get("GOOGLE_CLOUD_PROJECT_ID") or ""
        return cls(
            project,
            environ.get("GOOGLE_CLOUD_LOCATION") or "global",
            api_key="" if project else environ.get("GOOGLE_API_KEY", ""),
            base_url=environ.get("GOOGLE_VERTEX_BASE_URL", ""),
            version=environ.get("GOOGLE_GENAI_API_VERSION") or "v1",
            **options,
        )

    async def count(self, request: Request) -> int:
        """How many tokens a request has."""
        path, body = self._split(request, "countTokens")
        wanted = ("contents", "systemInstruction", "tools", "generationConfig")
        answer = await self._wire.post(path, {key: body[key] for key in wanted if key in body})
        return int(answer.get("totalTokens", 0))

    def _split(self, request: Request, method: str) -> tuple[str, dict[str, Any]]:
        body = {key: value for key, value in request.items() if key != "model"}
        name = quote(str(request["model"]).removeprefix("models/"), safe="")
        return f"/{self._version}{self._place}/publishers/google/models/{name}:{method}", body

    async def _authorization(self) -> dict[str, str]:
        token: Any = self._token() if callable(self._token) else self._token
        if inspect.isawaitable(token):
            token = await token
        if not token:
            raise NoKey("The token for Vertex is empty: log in again, or look at what gives the token.")
        return {"authorization": f"Bearer {token}"}


def _address(location: str) -> str:
    return (
        "https://aiplatform.googleapis.com" if location == "global" else f"https://{location}-aiplatform.googleapis.com"
    )


def machine_login() -> Callable[[], Awaitable[str]]:
    """Tokens of the login that this machine has (`gcloud auth application-default login`, or a service account)."""
    try:
        # They come without types.
        auth: Any = import_module("google.auth")
        errors: Any = import_module("google.auth.exceptions")
        requests: Any = import_module("google.auth.transport.requests")
    except ImportError:
        raise NoKey(
            "No token for Vertex: give one, or pip install 'farhand[vertex]' to use this machine's login."
        ) from None
    credentials: Any = None

    def fresh() -> str:
        nonlocal credentials
        if credentials is None:
            credentials, _ = auth.default(scopes=[SCOPE])
        if not credentials.valid:
            credentials.refresh(requests.Request())
        return str(credentials.token)

    async def token() -> str:
        import anyio.to_thread

        try:
            return await anyio.to_thread.run_sync(fresh)
        except errors.GoogleAuthError as error:
            raise NoKey(f"This machine has no login for Vertex: {error}") from error

    return token
