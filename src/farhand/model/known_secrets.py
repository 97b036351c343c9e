"""The node's own secrets, looked for in what would be sent to somebody: those in use now, each by what it is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from farhand.model.devices import digest
from farhand.model.lazy_pattern import lazy_pattern

# What is shorter may stand anywhere.
SHORTEST = 8
# A device's key, of which the node keeps a digest alone: so many letters of this alphabet, and no more around them.
_DEVICE_KEY = lazy_pattern(rb"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])")
_KEY_LENGTH = 45
DEVICE_KEY = "the key of a device"
# Each secret, and what it is.
NamedSecrets: TypeAlias = Mapping[str, str]


class SecretsInUse(Protocol):
    """Tells the secrets of the moment: devices are paired and workers hired while the node runs."""

    def __call__(self) -> KnownSecrets:
        """All of them."""
        ...


@dataclass(frozen=True)
class KnownSecrets:
    """Secrets that are known by their text, and devices' keys, of which only digests are known."""

    texts: NamedSecrets = field(default_factory=dict, repr=False)
    device_digests: frozenset[str] = frozenset()

    def and_also(self, texts: NamedSecrets) -> KnownSecrets:
        """These, and some more."""
        return KnownSecrets({**self.texts, **texts}, self.device_digests)

    def found_in(self, blocks: Iterable[bytes]) -> str:
        """What is the first secret that the blocks hold, one behind the other; empty when they hold none."""
        wanted = [(text.encode(), name) for text, name in self.texts.items() if len(text) >= SHORTEST]
        longest = max([len(text) for text, _ in wanted] + [_KEY_LENGTH])
        before = b""
        for block in blocks:
            # A secret may begin in one block and end in the next.
            text = before + block
            if name := next((name for secret, name in wanted if secret in text), "") or self._device_key(text):
                return name
            before = text[-longest:]
        return ""

    def _device_key(self, text: bytes) -> str:
        if not self.device_digests:
            return ""
        keys = (found.group().decode("ascii") for found in _DEVICE_KEY.finditer(text))
        return DEVICE_KEY if any(digest(key) in self.device_digests for key in keys) else ""


def none_known() -> KnownSecrets:
    """No secrets at all."""
    return KnownSecrets()
