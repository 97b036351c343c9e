"""Meta's Graph API for a command that makes a call or two: no event loop, no library, and no token in any error."""

import json
from collections.abc import Mapping
from typing import Any

from farhand.channels.whatsapp.settings import WhatsAppSettings
from farhand.model.errors import ChannelError, SettingMissing

VERSION = "v26.0"
SECONDS = 20.0
LARGEST = 4_000_000


class GraphTokenRefused(SettingMissing):
    """Meta does not know the token, or it may not do this."""

    code = "token_refused"


class GraphApiError(ChannelError):
    """Meta refused a call or could not be reached."""

    code = "graph_api"


class GraphApi:
    """One phone number, by its token."""

    def __init__(self, settings: WhatsAppSettings, seconds: float = SECONDS) -> None:
        self._settings = settings
        self._seconds = seconds

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The answer to one request; raises GraphTokenRefused or GraphApiError."""
        # Loaded here: a command that asks nothing of Meta does not pay for it.
        import http.client
        import urllib.error
        import urllib.request

        headers = {"Authorization": f"Bearer {self._settings.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        url = f"{self._settings.api_url}/{VERSION}/{path}"
        try:
            request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310
            with urllib.request.urlopen(request, timeout=self._seconds) as answer:  # noqa: S310
                said = json.loads(answer.read(LARGEST))
        except urllib.error.HTTPError as error:
            raise self._refusal(error.code, error.read(LARGEST)) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise GraphApiError(f"Meta cannot be reached: {self._clean(error)}") from None
        if not isinstance(said, dict):
            raise GraphApiError("Meta's answer cannot be read.")
        return said

    def _refusal(self, status: int, body: bytes) -> SettingMissing | GraphApiError:
        try:
            told = json.loads(body).get("error", {})
            why = told.get("error_data", {}).get("details") or told.get("error_user_msg") or told.get("message")
        except (ValueError, AttributeError):
            told, why = {}, ""
        text = self._clean(why or "no reason given")
        if status == 401 or told.get("code") in (190, 10, 200):
            return GraphTokenRefused(f"Meta refuses the token: {text}", hints=("docs/how-to/whatsapp.md",))
        return GraphApiError(f"Meta refused it ({status}): {text}", status=status)

    def _clean(self, error: object) -> str:
        reason = vars(error).get("reason", error) if isinstance(error, OSError) else error
        return " ".join(str(reason).split())[:300].replace(self._settings.token, "<token>")
