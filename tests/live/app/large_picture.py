"""A picture as large as a photograph of a phone, which nothing makes smaller but fewer pixels."""

import os
import struct
import zlib

from farhand.drivers.demo.replies import chunk

WIDTH, HEIGHT = 2600, 1400
_ROW = 3 * WIDTH


def large_picture() -> bytes:
    """Blocks of chance, as the bytes of a PNG file of several megabytes."""
    noise = os.urandom(_ROW * 64)
    rows = b"".join(b"\0" + noise[_ROW * (row % 64) : _ROW * (row % 64 + 1)] for row in range(HEIGHT))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b"")
