"""A passkey in a real Chromium: made on a paired phone, it pairs another browser of the same person without a code."""

from playwright.sync_api import CDPSession, expect
from tests.live.app.conftest import Opens
from tests.live.app.phone import AppNode, Phone

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def authenticator(phone: Phone) -> tuple[CDPSession, str]:
    """The browser's own, with somebody's finger always on it."""
    session = phone.context.new_cdp_session(phone.page)
    session.send("WebAuthn.enable")
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    return session, str(made["authenticatorId"])


def test_a_passkey_pairs_another_browser_without_a_code(phone: Opens, node: AppNode) -> None:
    address = node.address().replace("127.0.0.1", "localhost")
    first, second = phone(), phone()
    keys, here = authenticator(first)
    others, there = authenticator(second)
    first.page.goto(f"{address}#pair={node.code()}")
    first.tap(first.button("Skip"))
    first.is_live()
    first.page.goto(f"{address}#/devices")
    first.tap(first.button("Add a passkey"))
    expect(first.page.get_by_role("status").filter(has_text="The passkey is kept")).to_be_visible()
    # As a person's own browsers share them.
    for credential in keys.send("WebAuthn.getCredentials", {"authenticatorId": here})["credentials"]:
        others.send("WebAuthn.addCredential", {"authenticatorId": there, "credential": credential})
    second.page.goto(address)
    second.tap(second.button("Use a passkey"))
    second.tap(second.button("Skip"))
    second.is_live()
    # Under an address in numbers there is nothing to bind one to.
    second.page.goto(f"{node.address()}#/devices")
    expect(second.button("Use a passkey")).to_have_count(0)
