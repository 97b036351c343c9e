"""Draws the demo agent's picture, a sunrise over the sea, and writes it as a PNG by hand. Pure."""

import struct
import zlib

WIDTH, HEIGHT = 320, 180
SUN = (160, 112)
SUN_RADIUS = 34
HORIZON = 118
Colour = tuple[int, int, int]


def sunrise() -> bytes:
    """The whole picture, as the bytes of a PNG file."""
    rows = b"".join(
        b"\0" + b"".join(bytes(colour_at(across, down)) for across in range(WIDTH)) for down in range(HEIGHT)
    )
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


def chunk(name: bytes, data: bytes) -> bytes:
    """One part of a PNG file: its length, its name, its data, its checksum."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def colour_at(across: int, down: int) -> Colour:
    """Sky, sun or sea."""
    distance = ((across - SUN[0]) ** 2 + (down - SUN[1]) ** 2) ** 0.5
    if down >= HORIZON:
        glitter = abs(across - SUN[0]) < 6 + (down - HORIZON) // 2 and (across * 7 + down * 13) % 5 < 2
        return (255, 196, 120) if glitter else blend((38, 84, 124), (16, 42, 67), (down - HORIZON) / (HEIGHT - HORIZON))
    if distance <= SUN_RADIUS:
        return (255, 226, 138)
    sky = blend((64, 78, 140), (255, 150, 100), down / HORIZON)
    return blend((255, 206, 128), sky, min(1.0, (distance - SUN_RADIUS) / 60))


def blend(first: Colour, second: Colour, share: float) -> Colour:
    """Some of the one and some of the other."""
    red, green, blue = (round(one + (two - one) * share) for one, two in zip(first, second, strict=True))
    return red, green, blue
