"""What a document is sent as on WhatsApp when nobody has said which type it is."""

from __future__ import annotations

import pytest

from farhand.channels.whatsapp.gateway import document_type

BINARY = b"PK\x03\x04\x00\xff\xfe"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("talk.mp4", BINARY, "video/mp4"),
        ("all.zip", BINARY, "application/zip"),
        ("report.pdf", b"%PDF-1.7\n\xe2\xe3", "application/pdf"),
        ("plain.pdf", b"%PDF-1.7\n", "application/pdf"),
        ("shot.webp", BINARY, "image/webp"),
        ("shot.PNG", b"\x89PNG\r\n\x1a\n\x00", "image/png"),
        ("backup.tar.gz", b"\x1f\x8b\x08\x00", "application/octet-stream"),
        ("core.bin2", BINARY, "application/octet-stream"),
        ("notes.txt", b"caf\xe9 \x00", "application/octet-stream"),
        ("main.rs", b"fn main() {}\n", "text/plain"),
        ("app.py", "print('é')\n".encode(), "text/plain"),
        ("Makefile", b"all:\n", "text/plain"),
        ("figures.csv", b"a,b\n", "text/csv"),
        ("data.json", b"{}", "application/json"),
        ("page.html", b"<p>", "text/html"),
        ("empty.log", b"", "text/plain"),
    ],
)
def test_a_document_is_what_its_bytes_and_its_ending_say(name: str, content: bytes, kind: str) -> None:
    assert document_type(name, content) == kind
