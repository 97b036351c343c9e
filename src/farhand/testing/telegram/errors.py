"""The refusals of the Bot API: a code, a sentence, and at times how long to wait."""

from __future__ import annotations


class Refusal(Exception):
    """What Telegram answers instead of a result."""

    def __init__(self, code: int, description: str, *, retry_after: int | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.retry_after = retry_after

    def as_json(self) -> dict[str, object]:
        payload: dict[str, object] = {"ok": False, "error_code": self.code, "description": self.description}
        if self.retry_after is not None:
            payload["parameters"] = {"retry_after": self.retry_after}
        return payload


def bad_request(what: str) -> Refusal:
    return Refusal(400, f"Bad Request: {what}")


def unauthorized() -> Refusal:
    return Refusal(401, "Unauthorized")


def too_many(retry_after: int) -> Refusal:
    return Refusal(429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after)
