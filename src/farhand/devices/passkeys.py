"""Passkeys of a node: asks browsers with challenges that only it can have made, and checks what they sign."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib.util
import secrets
import struct

import msgspec

from farhand.devices.registry import clean_name
from farhand.model.devices import Device
from farhand.model.errors import NotAllowed, UnknownPasskey
from farhand.model.lazy_pattern import lazy_pattern
from farhand.model.passkeys import Passkey, PasskeyStore, StoredPasskey
from farhand.model.ports import Clock

CHALLENGE_SECONDS = 120.0
MAKING, PROVING = b"make", b"prove"
_WRONG = "This passkey is not known here."
_TRIED = "That took too long, or was tried before. Try again."
_NOT_HERE = "This node knows no passkeys: pip install 'farhand[passkeys]'."
_LOCAL = "localhost"
_PORT = lazy_pattern(r":[0-9]{1,5}$")
# A name with a letter in its last part: no address in numbers.
_NAME = lazy_pattern(r"(?:localhost|(?:[a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{0,62})")


class _Response(msgspec.Struct):
    clientDataJSON: str  # noqa: N815


class _Credential(msgspec.Struct):
    id: str
    response: _Response


class _ClientData(msgspec.Struct):
    challenge: str


class Passkeys:
    """A challenge says itself what it is for and until when, signed with a secret that ends with the node: nobody can
    fill a memory with them. Each is good once."""

    def __init__(self, store: PasskeyStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._used: dict[bytes, float] = {}

    @property
    def available(self) -> bool:
        """Whether what checks signatures is installed."""
        return importlib.util.find_spec("webauthn") is not None

    def creation_options(self, device: Device, host: str) -> str:
        """What a browser is asked with, to make one that it finds again by itself."""
        site = self._site(host)
        from webauthn import generate_registration_options, options_to_json
        from webauthn.helpers import structs

        wanted = structs.AuthenticatorSelectionCriteria(
            resident_key=structs.ResidentKeyRequirement.REQUIRED,
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        )
        options = generate_registration_options(
            rp_id=site,
            rp_name="farhand",
            user_name="farhand",
            user_id=hashlib.sha256(b"the manager at " + site.encode()).digest(),
            challenge=self._challenge(MAKING, site, device.id),
            authenticator_selection=wanted,
        )
        return options_to_json(options)

    async def add(self, device: Device, host: str, credential: bytes, name: str) -> Passkey:
        """Keeps what the browser made for that device."""
        site = self._site(host)
        from webauthn import verify_registration_response
        from webauthn.helpers.exceptions import WebAuthnException

        _, challenge = self._read(credential, MAKING, site, device.id)
        try:
            made = verify_registration_response(
                credential=credential.decode(),
                expected_challenge=challenge,
                expected_rp_id=site,
                expected_origin=_origins(host, site),
                require_user_verification=True,
            )
        except (WebAuthnException, ValueError):
            raise NotAllowed("The browser's passkey is not in order.") from None
        self._spend(challenge)
        passkey = Passkey(
            id=_text(made.credential_id), name=clean_name(name), site=host, device=device.id, made_at=self._clock.now()
        )
        key, count = made.credential_public_key, made.sign_count
        if not await self._store.add(StoredPasskey(passkey=passkey, public_key=key, sign_count=count)):
            raise NotAllowed("This device, or the passkey's place, is taken away. Pair it again.")
        return passkey

    def request_options(self, host: str) -> str:
        """What a browser is asked with, to prove that it has one; it names none, for nobody is known yet."""
        site = self._site(host)
        from webauthn import generate_authentication_options, options_to_json
        from webauthn.helpers.structs import UserVerificationRequirement

        options = generate_authentication_options(
            rp_id=site,
            challenge=self._challenge(PROVING, site),
            user_verification=UserVerificationRequirement.REQUIRED,
        )
        return options_to_json(options)

    async def recognise(self, host: str, credential: bytes) -> Passkey:
        """The passkey that the browser has proven."""
        site = self._site(host)
        from webauthn import verify_authentication_response
        from webauthn.helpers.exceptions import WebAuthnException

        name, challenge = self._read(credential, PROVING, site)
        found = await self._store.find(name)
        # Browsers offer it to every port of that name, and whoever listens there may say that name and port to us.
        if found is None or found.passkey.site != host:
            raise NotAllowed(_WRONG)
        try:
            proven = verify_authentication_response(
                credential=credential.decode(),
                expected_challenge=challenge,
                expected_rp_id=site,
                expected_origin=_origins(host, site),
                credential_public_key=found.public_key,
                credential_current_sign_count=found.sign_count,
                require_user_verification=True,
            )
        except (WebAuthnException, ValueError):
            raise NotAllowed(_WRONG) from None
        self._spend(challenge)
        if not await self._store.used(found.passkey.id, proven.new_sign_count, self._clock.now()):
            raise NotAllowed(_WRONG)
        return found.passkey

    async def all(self) -> list[Passkey]:
        """Every one, the newest first."""
        return await self._store.all()

    async def remove(self, passkey: str) -> None:
        """Ends one; whoever came in with it stays, as a device of its own."""
        if not await self._store.remove(passkey):
            raise UnknownPasskey(passkey)

    # --- challenges

    def _site(self, host: str) -> str:
        """The name that a passkey is bound to: that of the node without its port. An address in numbers is none."""
        site = host.rpartition(":")[0] if _PORT.search(host) else host
        if not self.available:
            raise NotAllowed(_NOT_HERE)
        if not _NAME.fullmatch(site.lower()):
            raise NotAllowed("A passkey needs a name: open the app under one, not under an address in numbers.")
        return site.lower()

    def _challenge(self, what: bytes, site: str, device: str = "") -> bytes:
        head = secrets.token_bytes(16) + struct.pack(">d", self._clock.now() + CHALLENGE_SECONDS)
        return head + self._signed(head, what, site, device)

    def _signed(self, head: bytes, what: bytes, site: str, device: str) -> bytes:
        words = b"\0".join((head.hex().encode(), what, site.encode(), device.encode()))
        return hmac.new(self._secret, words, hashlib.sha256).digest()

    def _read(self, credential: bytes, what: bytes, site: str, device: str = "") -> tuple[str, bytes]:
        """The passkey that it names and the challenge that it answers, which must be ours, in time, and new."""
        try:
            given = msgspec.json.decode(credential, type=_Credential)
            client = msgspec.json.decode(_bytes(given.response.clientDataJSON), type=_ClientData)
            challenge = _bytes(client.challenge)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise NotAllowed(_WRONG) from None
        head, signature = challenge[:24], challenge[24:]
        ours = len(head) == 24 and hmac.compare_digest(signature, self._signed(head, what, site, device))
        if not ours or challenge in self._used or struct.unpack(">d", head[16:])[0] < self._clock.now():
            raise NotAllowed(_TRIED)
        return given.id, challenge

    def _spend(self, challenge: bytes) -> None:
        """The same proof may have come twice, and been read twice, before either got here."""
        if challenge in self._used:
            raise NotAllowed(_TRIED)
        now = self._clock.now()
        self._used = {one: until for one, until in self._used.items() if until > now}
        self._used[challenge] = now + CHALLENGE_SECONDS


def _origins(host: str, site: str) -> list[str]:
    """The pages that may use it: this node's own, and unencrypted ones on this machine alone."""
    return [f"https://{host}", *([f"http://{host}"] if site == _LOCAL else [])]


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
