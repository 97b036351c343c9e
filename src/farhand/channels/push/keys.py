"""The node's own keys for push: made when a device first asks for them, kept in its folder for its owner alone."""

import secrets
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from farhand.channels.push.encrypt import as_text, point_of
from farhand.disk.atomic import write_private

FILE = "push.json"


class _Stored(msgspec.Struct, frozen=True):
    """What is in the file."""

    vapid: str
    actions: str


@dataclass(frozen=True)
class NodeKeys:
    """The key that push services know the node by, and the secret that buttons of notifications are signed with."""

    vapid: ec.EllipticCurvePrivateKey = field(repr=False)
    actions: bytes = field(repr=False)

    @property
    def public(self) -> str:
        """The public half, as browsers want it."""
        return as_text(point_of(self.vapid.public_key()))


def node_keys(folder: Path) -> NodeKeys:
    """The keys of the node in that folder; made when there are none, or when what is there is none."""
    path = folder / FILE
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=_Stored)
        key = serialization.load_pem_private_key(stored.vapid.encode(), password=None)
        if isinstance(key, ec.EllipticCurvePrivateKey):
            return NodeKeys(key, bytes.fromhex(stored.actions))
    except (OSError, ValueError, msgspec.MsgspecError):
        pass
    made = ec.generate_private_key(ec.SECP256R1())
    pem = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    actions = secrets.token_bytes(32)
    write_private(path, msgspec.json.encode(_Stored(vapid=pem.decode(), actions=actions.hex())), sync=True)
    return NodeKeys(made, actions)
