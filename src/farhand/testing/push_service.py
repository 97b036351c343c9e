"""A push service on loopback, as strict as the real ones: checks who sends, keeps what came, answers as told."""

from __future__ import annotations

import base64
import json
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from farhand.testing.models.server import served

LARGEST = 4096
DAY_SECONDS = 86_400


def as_text(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def as_bytes(text: str) -> bytes:
    """What is written so."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass(frozen=True)
class Browser:
    """The keys of one browser's subscription, and where the service has it."""

    name: str
    endpoint: str
    private: ec.EllipticCurvePrivateKey = field(repr=False)
    auth: bytes = field(repr=False)

    def subscription(self, origin: str = "https://team.example", language: str = "en") -> dict[str, Any]:
        """What the browser tells the node."""
        point = self.private.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        keys = {"p256dh": as_text(point), "auth": as_text(self.auth)}
        return {"endpoint": self.endpoint, "keys": keys, "origin": origin, "language": language}


@dataclass(frozen=True)
class PushRequest:
    """A message that the service took, or was told to refuse."""

    browser: str
    headers: dict[str, str]
    body: bytes
    claims: dict[str, Any]
    # When it was there, on the clock that measures.
    arrived: float = 0.0


class FakePushService:
    """Takes what a node sends. `answers` holds what the next requests get; afterwards each gets 201."""

    def __init__(self, now: float) -> None:
        self.address = ""
        self.now = now
        self.answers: deque[Response] = deque()
        self.requests: list[PushRequest] = []
        self.refused: list[str] = []
        self._came = anyio.Event()

    def browser(self, name: str = "phone") -> Browser:
        """A browser that subscribed."""
        endpoint = f"{self.address}/push/{name}"
        return Browser(name, endpoint, ec.generate_private_key(ec.SECP256R1()), os.urandom(16))

    async def receives(self, count: int) -> list[PushRequest]:
        """The requests, once so many came."""
        with anyio.fail_after(240):
            while len(self.requests) < count:
                await self._came.wait()
        return self.requests

    async def _push(self, request: Request) -> Response:
        arrived = time.perf_counter()
        body = await request.body()
        try:
            claims = self._checked(request, body)
        except ValueError as error:
            self.refused.append(str(error))
            return Response(str(error), 400)
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append(PushRequest(request.path_params["browser"], headers, body, claims, arrived))
        came, self._came = self._came, anyio.Event()
        came.set()
        return self.answers.popleft() if self.answers else Response(status_code=201)

    def _checked(self, request: Request, body: bytes) -> dict[str, Any]:
        if request.headers.get("content-encoding") != "aes128gcm" or not request.headers.get("ttl", "").isdigit():
            raise ValueError("no aes128gcm, or no TTL")
        if len(body) > LARGEST:
            raise ValueError("too large")
        if len(request.headers.get("topic", "")) > 32:
            raise ValueError("the topic is too long")
        return self._claims(request.headers.get("authorization", ""))

    def _claims(self, header: str) -> dict[str, Any]:
        scheme, _, rest = header.partition(" ")
        parts = dict(one.strip().split("=", 1) for one in rest.split(",")) if rest else {}
        if scheme != "vapid" or {"t", "k"} - set(parts):
            raise ValueError("no VAPID")
        head, claims, signature = parts["t"].split(".")
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), as_bytes(parts["k"]))
        raw = as_bytes(signature)
        signed = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        try:
            key.verify(signed, f"{head}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            raise ValueError("BadJwtToken") from None
        told: dict[str, Any] = json.loads(as_bytes(claims))
        is_now = self.now < told["exp"] <= self.now + DAY_SECONDS
        if told["aud"] != self.address or not is_now or not str(told["sub"]).startswith(("mailto:", "https://")):
            raise ValueError(f"BadJwtToken: {told}")
        return told

    def application(self) -> Starlette:
        """What is served."""
        return Starlette(routes=[Route("/push/{browser}", self._push, methods=["POST"])])


@asynccontextmanager
async def push_service(now: float) -> AsyncIterator[FakePushService]:
    """A service that runs while the context is open."""
    service = FakePushService(now)
    async with served(service.application()) as address:
        service.address = address
        yield service
