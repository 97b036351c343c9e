"""Encrypts a message for one browser as RFC 8291 wants it (`aes128gcm`), and signs the node's name (RFC 8292).

The push service passes it on and cannot read it."""

import base64
import json
import os

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

CURVE = ec.SECP256R1()
# One record holds everything: a push message has no more.
RECORD_BYTES = 4096
# How long the signature of our name holds; services take a day at most.
SIGNED_SECONDS = 12 * 3600


def as_text(data: bytes) -> str:
    """Base64url without padding, as everything here is written."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def point_of(key: ec.EllipticCurvePublicKey) -> bytes:
    """A public key as the 65 bytes of its point."""
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def encrypt(message: bytes, browser_key: bytes, browser_secret: bytes) -> bytes:
    """The body of a push request; only the browser with these keys can read it. Raises ValueError for keys that are
    none."""
    browser = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, browser_key)
    own = ec.generate_private_key(CURVE)
    point, salt = point_of(own.public_key()), os.urandom(16)
    shared = own.exchange(ec.ECDH(), browser)
    secret = _derived(shared, browser_secret, b"WebPush: info\x00" + browser_key + point, 32)
    content_key = _derived(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\x00", 12)
    # 2 marks the last record.
    sealed = AESGCM(content_key).encrypt(nonce, message + b"\x02", None)
    return salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(point)]) + point + sealed


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)


def authorization(key: ec.EllipticCurvePrivateKey, audience: str, contact: str, now: float) -> str:
    """The header by which the push service knows who sends: for that service alone, and for some hours."""
    claims = {"aud": audience, "exp": int(now) + SIGNED_SECONDS, "sub": contact}
    signed = f"{_json({'typ': 'JWT', 'alg': 'ES256'})}.{_json(claims)}"
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    signature = as_text(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    return f"vapid t={signed}.{signature}, k={as_text(point_of(key.public_key()))}"


def _json(value: dict[str, object]) -> str:
    return as_text(json.dumps(value, separators=(",", ":")).encode())
