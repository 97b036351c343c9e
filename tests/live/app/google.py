"""What a Chromium needs of Google to be pushed to, on loopback: check-in, registration, the line over which messages
come (MCS, over TLS), and the address that a browser gives for itself, behind a proxy that takes its name."""

from __future__ import annotations

import asyncio
import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qs

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

# Chrome's, and the one of a Chromium without Google's own parts.
NAMES = ("fcm.googleapis.com", "jmt17.google.com")
LOGIN_RESPONSE, DATA_MESSAGE, HEARTBEAT_PING, HEARTBEAT_ACK = 3, 8, 0, 1
MCS_VERSION = 41


def varint(number: int) -> bytes:
    """A number as protocol buffers write it."""
    made = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        made.append(low | (0x80 if number else 0))
        if not number:
            return bytes(made)


def text_field(number: int, value: bytes | str) -> bytes:
    """A field of bytes."""
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    """A field of a number."""
    return varint(number << 3) + varint(value)


def checkin_response() -> bytes:
    """AndroidCheckinResponse: all is well, and who the browser is."""
    ids = b"".join(varint(number << 3 | 1) + struct.pack("<Q", 4_242_424_242) for number in (7, 8))
    return number_field(1, 1) + number_field(3, int(datetime.now(UTC).timestamp() * 1000)) + ids


@dataclass
class Registered:
    """One subscription of the browser: what its messages must name."""

    app: str
    subtype: str
    sender: str


@dataclass
class Google:
    """All of it, in a thread with an event loop of its own."""

    folder: Path
    registrations: dict[str, Registered] = field(default_factory=dict)
    # What was posted to the address of a subscription: its token and the encrypted body.
    posted: list[tuple[str, bytes]] = field(default_factory=list)
    acknowledged: int = 0
    web_port: int = 0
    mcs_port: int = 0
    proxy_port: int = 0
    _line: asyncio.StreamWriter | None = None
    _logged_in: threading.Event = field(default_factory=threading.Event)

    @property
    def arguments(self) -> list[str]:
        """What a Chromium is started with."""
        web = f"http://127.0.0.1:{self.web_port}"
        return [
            f"--gcm-checkin-url={web}/checkin",
            f"--gcm-registration-url={web}/register",
            f"--gcm-mcs-endpoint=https://127.0.0.1:{self.mcs_port}",
            "--ignore-certificate-errors",
        ]

    @property
    def variables(self) -> dict[str, str]:
        """What a node is started with, so that it finds the browser's address here."""
        return {
            "HTTPS_PROXY": f"http://127.0.0.1:{self.proxy_port}",
            "SSL_CERT_FILE": str(self.folder / "ca.pem"),
            "NO_PROXY": "127.0.0.1,localhost",
        }

    async def serve(self, started: threading.Event, ended: asyncio.Event) -> None:
        """Until it is ended."""
        context = certificates(self.folder)
        web = await asyncio.start_server(self._web, "127.0.0.1", 0)
        mcs = await asyncio.start_server(self._mcs, "127.0.0.1", 0, ssl=context)

        async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._proxy(reader, writer, context)

        behind = await asyncio.start_server(proxy, "127.0.0.1", 0)
        self.web_port, self.mcs_port, self.proxy_port = (one.sockets[0].getsockname()[1] for one in (web, mcs, behind))
        started.set()
        await ended.wait()
        for one in (web, mcs, behind):
            one.close()

    async def _web(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            path, body = await read_request(reader)
            if path.startswith("/checkin"):
                answer, kind = checkin_response(), "application/x-protobuf"
            else:
                answer, kind = self._register(body), "text/plain"
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(answer)}\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode() + answer)
            await writer.drain()
            writer.close()

    def _register(self, body: bytes) -> bytes:
        given = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        token = f"token-{len(self.registrations)}"
        self.registrations[token] = Registered(given["app"], given.get("X-subtype", ""), given.get("sender", ""))
        return f"token={token}".encode()

    async def _mcs(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readexactly(1)
            await read_stanza(reader)
            writer.write(bytes([MCS_VERSION]) + stanza(LOGIN_RESPONSE, text_field(1, "chrome") + number_field(8, 1)))
            await writer.drain()
            self._line = writer
            self._logged_in.set()
            while True:
                tag = await read_stanza(reader)
                if tag == HEARTBEAT_PING:
                    writer.write(stanza(HEARTBEAT_ACK, b""))
                else:
                    self.acknowledged += 1

    async def _proxy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, context: ssl.SSLContext) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            line = (await reader.readuntil(b"\r\n\r\n")).decode()
            assert line.startswith(tuple(f"CONNECT {name}:443" for name in NAMES)), line
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await writer.drain()
            await writer.start_tls(context)
            while True:
                path, body = await read_request(reader)
                token = path.rpartition("/")[2]
                self.posted.append((token, body))
                known = self.registrations.get(token)
                if known is not None:
                    await self._deliver(known, body)
                status = "201 Created" if known else "404 Not Found"
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()

    async def _deliver(self, to: Registered, body: bytes) -> None:
        data = [("subtype", to.subtype), ("content-encoding", "aes128gcm")]
        message = text_field(3, to.sender) + text_field(5, to.app)
        for key, value in data:
            message += text_field(7, text_field(1, key) + text_field(2, value))
        message += text_field(9, f"m{len(self.posted)}") + text_field(21, body)
        await asyncio.to_thread(self._logged_in.wait, 240)
        assert self._line is not None
        self._line.write(stanza(DATA_MESSAGE, message))
        await self._line.drain()


def stanza(tag: int, body: bytes) -> bytes:
    """A message on the line."""
    return bytes([tag]) + varint(len(body)) + body


async def read_stanza(reader: asyncio.StreamReader) -> int:
    """The kind of the next message on the line, which is read to its end."""
    tag = (await reader.readexactly(1))[0]
    size, shift = 0, 0
    while True:
        byte = (await reader.readexactly(1))[0]
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    await reader.readexactly(size)
    return tag


async def read_request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """The path and the body of an HTTP request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *rest = head.split("\r\n")
    lengths = [line.partition(":")[2] for line in rest if line.lower().startswith("content-length:")]
    return first.split()[1], await reader.readexactly(int(lengths[0]) if lengths else 0)


def certificates(folder: Path) -> ssl.SSLContext:
    """A server's context for both names, signed by a certificate in `ca.pem`."""
    now = datetime.now(UTC)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])

    def signed(name: str, key: ec.EllipticCurvePrivateKey, *, is_root: bool) -> x509.Certificate:
        subject = issuer if is_root else x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        dns = [x509.DNSName(one) for one in NAMES]
        names = x509.SubjectAlternativeName([*dns, x509.IPAddress(ip_address("127.0.0.1"))])
        made = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
        made = made.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        made = made.not_valid_after(now + timedelta(days=2)).add_extension(names, critical=False)
        made = made.add_extension(x509.BasicConstraints(ca=is_root, path_length=None), critical=True)
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(keys[0].public_key())
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        made = made.add_extension(identifier, critical=False).add_extension(own, critical=False)
        usage = x509.KeyUsage(True, False, False, False, False, is_root, is_root, False, False)
        return made.add_extension(usage, critical=True).sign(keys[0], hashes.SHA256())

    root, leaf = signed("root", keys[0], is_root=True), signed(NAMES[0], keys[1], is_root=False)
    (folder / "ca.pem").write_bytes(root.public_bytes(serialization.Encoding.PEM))
    (folder / "leaf.pem").write_bytes(
        leaf.public_bytes(serialization.Encoding.PEM)
        + keys[1].private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "leaf.pem")
    return context


@contextmanager
def google(folder: Path) -> Iterator[Google]:
    """It, while the context is open."""
    made, started = Google(folder), threading.Event()
    loop, ended = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(made.serve(started, ended)), daemon=True)
    thread.start()
    started.wait(240)
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(240)
        loop.close()
