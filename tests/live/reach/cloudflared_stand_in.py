"""Behaves as cloudflared does: tells its address on standard error, passes requests on with its headers, and fails as
it does. The file `behaviour` beside it says how, read anew for every request; `started` notes every start."""

import http.client
import http.server
import os
import signal
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

HERE = Path(sys.argv[0]).resolve().parent
HOST = "quiet-fox.trycloudflare.com"


def behaviour() -> str:
    try:
        return (HERE / "behaviour").read_text().strip()
    except OSError:
        return "up"


def say(level: str, text: str) -> None:
    sys.stderr.write(f"2026-11-16T08:01:53Z {level} {text}\n")
    sys.stderr.flush()


class Edge(http.server.BaseHTTPRequestHandler):
    """The public side: every request goes to the node, as one that was forwarded."""

    protocol_version = "HTTP/1.1"
    target = ""

    def pass_on(self) -> None:
        if behaviour() == "unreachable":
            self.answer(530, b"error code: 1033")
            return
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")}
        headers |= {
            "Host": HOST,
            "Cf-Connecting-Ip": "203.0.113.7",
            "Cf-Ray": "8a-FRA",
            "Cdn-Loop": "cloudflare",
            "X-Forwarded-For": "203.0.113.7",
            "X-Forwarded-Proto": "https",
        }
        link = http.client.HTTPConnection(urlsplit(self.target).netloc, timeout=30)
        try:
            link.request(self.command, self.path, body, headers)
            answer = link.getresponse()
            self.answer(answer.status, answer.read())
        except OSError:
            self.answer(502, b"Bad Gateway")
        finally:
            link.close()

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = pass_on  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def main() -> None:
    words = sys.argv[1:]
    with (HERE / "started").open("a") as file:
        file.write(f"{os.getpid()} {' '.join(words)}\n")
    if behaviour() == "refused":
        say("INF", "Requesting new quick Tunnel on trycloudflare.com...")
        say("ERR", 'Error unmarshaling QuickTunnel response: error code: 1015 status_code="429 Too Many Requests"')
        sys.stderr.write("failed to unmarshal quick Tunnel: invalid character 'e' looking for beginning of value\n")
        sys.exit(1)
    if behaviour() == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour() in ("silent", "stubborn"):
        say("INF", "Requesting new quick Tunnel on trycloudflare.com...")
        while True:
            time.sleep(60)
    Edge.target = words[words.index("--url") + 1]
    named = "run" in words
    port = int((HERE / "port").read_text()) if named else 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Edge)
    say("INF", "Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way to try.")
    if not named:
        say("INF", "+" + "-" * 92 + "+")
        say("INF", "|  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |")
        say("INF", f"|  {f'http://127.0.0.1:{server.server_port}':<89} |")
        say("INF", "+" + "-" * 92 + "+")
    say("INF", "Registered tunnel connection connIndex=0 event=0 ip=198.51.100.7 location=fra01 protocol=quic")
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    server.serve_forever()


if __name__ == "__main__":
    main()
