"""What a chat says of the devices that are paired with the node, and revokes one. Words for a person."""

from collections.abc import Sequence

from farhand.model.devices import Device, DeviceRegistry
from farhand.model.errors import UnknownDevice

NONE_PAIRED = "No device is paired. `farhand pair` on the node's machine shows a code for one."
NO_DEVICES = "This node has no devices."
HOW_TO_REVOKE = "/devices revoke <id> ends one at once."


async def devices_text(devices: DeviceRegistry | None, revoke: str, now: float) -> str:
    """The devices, or what became of the one that was to be revoked."""
    if devices is None:
        return NO_DEVICES
    if not revoke:
        return listed(await devices.all(), now)
    found = [one for one in await devices.all() if one.id == revoke.lower()]
    try:
        await devices.revoke(revoke.lower())
    except UnknownDevice as error:
        return f"{error.text}\n/devices lists those that are paired."
    return f"{found[0].name if found else revoke} is revoked: it is cut off, and its key lets nobody in."


def listed(devices: Sequence[Device], now: float) -> str:
    """One line a device, the newest first. Pure."""
    lines = [
        f"{one.name}{' (may only look)' if one.read_only else ''}: last seen {ago(now - one.last_seen)}, id {one.id}"
        for one in devices
    ]
    return "\n".join([*lines, HOW_TO_REVOKE]) if lines else NONE_PAIRED


def ago(seconds: float) -> str:
    """How long ago something was, in one word."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{int(seconds // length)} {unit} ago"
    return "just now"
