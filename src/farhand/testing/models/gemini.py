"""A fake Gemini API on loopback: generateContent, streamGenerateContent (SSE) and countTokens, by a script."""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, cast

from farhand.testing.models.steps import GeminiScript, GeminiStep, PlayedGeminiStep, Received, ScriptedConversation

# How the CLI's own question begins what an earlier conversation was about. It asks at a start, whenever it comes to it.
SUMMARY = "Summarize the user's primary intent"
USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}


def chunk(*parts: dict[str, Any], finish: str = "", usage: dict[str, Any] | None = None) -> dict[str, Any]:
    """One chunk of an answer."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **({"usageMetadata": usage} if usage else {})}


def says(*texts: str, finish: str = "STOP", usage: dict[str, Any] | None = None) -> GeminiStep:
    """The model says something, a chunk a text."""
    chunks = [chunk({"text": text}) for text in texts[:-1]]
    return GeminiStep((*chunks, chunk({"text": texts[-1]}, finish=finish, usage=usage or USAGE)))


def calls(
    name: str, arguments: dict[str, Any] | None = None, *, call_id: str = "", signature: str = "", text: str = ""
) -> GeminiStep:
    """The model calls a tool."""
    return calls_all((name, arguments or {}, call_id), signature=signature, text=text)


def calls_all(*wanted: tuple[str, dict[str, Any], str], signature: str = "", text: str = "") -> GeminiStep:
    """The model calls several tools in one message; the signature comes on the first, as the API does it."""
    parts: list[dict[str, Any]] = []
    for index, (name, arguments, call_id) in enumerate(wanted):
        call = {"name": name, "args": arguments, **({"id": call_id} if call_id else {})}
        signed = {"thoughtSignature": signature} if signature and index == 0 else {}
        parts.append({"functionCall": call, **signed})
    spoken = [{"text": text}] if text else []
    return GeminiStep((chunk(*spoken, *parts, finish="STOP", usage=USAGE),))


def thinks(thought: str, then: GeminiStep) -> GeminiStep:
    """The model thinks before it does that; the API gives a thought its subject as `**Subject** description`."""
    return GeminiStep((chunk({"text": thought, "thought": True}), *then.chunks))


def answers(*chunks: dict[str, Any]) -> GeminiStep:
    """Chunks as they are."""
    return GeminiStep(tuple(chunks))


def refuses(status: int, message: str = "busy", *, retry_after: str = "") -> GeminiStep:
    """An HTTP error."""
    return GeminiStep(status=status, error=message, headers={"retry-after": retry_after} if retry_after else {})


def exhausted(
    message: str = "You exceeded your current quota.", *, seconds: float = 0, daily: bool = False
) -> GeminiStep:
    """A 429 as the API words it: a quota of the day, or one that is free again after so many seconds."""
    kind = "type.googleapis.com/google.rpc."
    quota = "GenerateRequestsPerDayPerProjectPerModel" if daily else "GenerateRequestsPerMinutePerProjectPerModel"
    failure: dict[str, Any] = {
        "@type": kind + "QuotaFailure",
        "violations": [{"quotaMetric": "requests", "quotaId": quota}],
    }
    retry = {"@type": kind + "RetryInfo", "retryDelay": f"{seconds:g}s"}
    details = (failure, *([retry] if seconds else []))
    return GeminiStep(status=429, error=message, reason="RESOURCE_EXHAUSTED", details=details)


def cut(*texts: str) -> GeminiStep:
    """The stream breaks off after these texts, without a finish reason."""
    return GeminiStep(tuple(chunk({"text": text}) for text in texts), cut_after=len(texts))


def held(gate: threading.Event, *texts: str, before: int = 0) -> GeminiStep:
    """An answer that waits for the gate after `before` chunks."""
    return GeminiStep(says(*texts).chunks, wait_for=gate, hold_after=before)


class FakeGemini:
    """The server. Leaving its `with` block checks that the script was played to its end, unless a test failed already.

    Serves from a thread of its own, so that it can answer tests, loops and other processes alike.
    """

    def __init__(self, port: int = 0) -> None:
        self.script = GeminiScript()
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(
            target=lambda: self._server.serve_forever(poll_interval=0.05), name="fake gemini", daemon=True
        )

    @property
    def url(self) -> str:
        """Its address, for `base_url` or GOOGLE_GEMINI_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Received]:
        """Every request for content, in order; counts and summaries left out."""
        return [each for each in self.script.requests if each.method != "countTokens" and not _asks_a_summary(each)]

    @property
    def last(self) -> dict[str, Any]:
        """The body of the last request for content."""
        return self.requests[-1].body

    def expect(self, *steps: PlayedGeminiStep, prompt: str = "") -> ScriptedConversation:
        """Adds a conversation."""
        return self.script.expect(*steps, prompt=prompt)

    def environ(self) -> dict[str, str]:
        """The variables that send an agent here."""
        return {"GOOGLE_GEMINI_BASE_URL": self.url, "GEMINI_API_KEY": "fake-key"}

    def start(self) -> FakeGemini:
        """Begins to serve."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Stops serving and closes every connection."""
        self.closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> FakeGemini:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if kind is None:
            self.script.verify()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    fake: FakeGemini

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connections: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connections.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().close_request(request)

    def hang_up(self) -> None:
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error of ours."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self) -> None:
        fake = cast("_Server", self.server).fake
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        name, _, method = self.path.partition("?")[0].rpartition("/models/")[2].partition(":")
        received = Received(
            method, name, json.loads(raw or b"{}"), {k.lower(): v for k, v in self.headers.items()}, self.path
        )
        if method == "countTokens":
            fake.script.note(received)
            return self._json(200, {"totalTokens": max(1, len(raw) // 4)})
        if _asks_a_summary(received):
            fake.script.note(received)
            return self._json(200, _whole(says("An earlier conversation")))
        step = fake.script.next_step(received, _prompt_text(received.body))
        if step is None:
            return self._json(400, {"error": {"code": 400, "message": "The fake model has no step for this request."}})
        if step.status != 200:
            error = {"code": step.status, "message": step.error, "status": step.reason}
            details = {"details": step.details} if step.details else {}
            return self._json(step.status, {"error": {**error, **details}}, step)
        if method == "streamGenerateContent":
            return self._stream(step, fake)
        return self._json(200, _whole(step))

    def _json(self, status: int, body: dict[str, Any], step: GeminiStep | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (step.headers if step else {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, step: GeminiStep, fake: FakeGemini) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for index, each in enumerate(step.chunks):
            if step.wait_for is not None and index == step.hold_after:
                self.wfile.flush()
                while not step.wait_for.wait(0.02) and not fake.closing.is_set():
                    pass
            data = f"data: {json.dumps(each, ensure_ascii=False)}\r\n\r\n".encode("utf-8", "surrogatepass")
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        if step.cut_after is not None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def log_message(self, *arguments: Any) -> None:
        """Says nothing."""


def _whole(step: GeminiStep) -> dict[str, Any]:
    """The chunks of a step as one response."""
    parts = [part for each in step.chunks for part in each["candidates"][0].get("content", {}).get("parts", [])]
    last = step.chunks[-1]
    candidate = {**last["candidates"][0], "content": {"role": "model", "parts": parts}}
    return {**last, "candidates": [candidate]}


def _asks_a_summary(received: Received) -> bool:
    """It repeats a conversation with all its markers, and would take the steps of another one."""
    return _prompt_text(received.body).startswith(SUMMARY)


def _prompt_text(body: dict[str, Any]) -> str:
    contents = body.get("contents", [])
    return "\n".join(
        part["text"]
        for content in contents
        if content.get("role") == "user"
        for part in content.get("parts", [])
        if isinstance(part.get("text"), str)
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves a fake-responses file to other processes: `python -m farhand.testing.models.gemini FILE`."""
    parser = argparse.ArgumentParser(description="A fake Gemini API that repeats the answers of a file.")
    parser.add_argument("file", type=Path, help="JSONL as the CLI's --fake-responses reads it")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args(arguments)
    fake = FakeGemini(options.port)
    for _ in range(options.repeat):
        fake.expect(*read_steps(options.file))
    print(fake.start().url, flush=True)  # noqa: T201
    sys.stdin.read()
    fake.close()
    return 0


def read_steps(path: Path) -> list[GeminiStep]:
    """The answers of a fake-responses file as steps."""
    steps = []
    for line in path.read_text("utf-8").split("\n"):
        if line.strip():
            answer = json.loads(line)
            response = answer["response"]
            steps.append(GeminiStep(tuple(response if isinstance(response, list) else [response])))
    return steps


if __name__ == "__main__":
    sys.exit(main())
