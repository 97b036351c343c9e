"""`farhand whatsapp` at a desk: hands the template in, tells how all stands, and never shows a secret."""

from __future__ import annotations

import os
import subprocess
import sys

import anyio.to_thread
import pytest

from farhand.testing.whatsapp import FakeWhatsApp

pytestmark = pytest.mark.anyio


async def farhand(whatsapp: FakeWhatsApp, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    world = whatsapp.world
    variables = {
        "PATH": os.environ["PATH"],
        "WHATSAPP_TOKEN": world.token,
        "WHATSAPP_APP_SECRET": world.app_secret,
        "WHATSAPP_PHONE_ID": world.phone_id,
        "WHATSAPP_WABA_ID": world.waba_id,
        "WHATSAPP_API_URL": whatsapp.address,
        "WHATSAPP_MANAGER": "+49 151 000-00001",
        **more,
    }
    command = [sys.executable, "-m", "farhand", "whatsapp", *words]
    environment = {name: value for name, value in variables.items() if value}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=240)

    return await anyio.to_thread.run_sync(run)


async def test_setup_hands_the_template_in_once_and_status_tells_how_it_stands(whatsapp: FakeWhatsApp) -> None:
    first = await farhand(whatsapp, "setup")
    assert (first.returncode, first.stderr) == (0, "")
    assert "The template 'farhand_waiting' is handed in" in first.stdout
    assert "Template: farhand_waiting (en): pending" in first.stdout
    again = await farhand(whatsapp, "setup")
    assert "handed in" not in again.stdout
    whatsapp.approve_templates()
    status = await farhand(whatsapp, "status")
    assert "Template: farhand_waiting (en): approved\n" in status.stdout
    assert "Manager:  4915100000001" in status.stdout
    assert len(whatsapp.world.templates) == 1
    assert whatsapp.world.token not in first.stdout + again.stdout + status.stdout


async def test_what_is_missing_or_wrong_is_told_in_a_sentence(whatsapp: FakeWhatsApp) -> None:
    missing = await farhand(whatsapp, "status", WHATSAPP_TOKEN="")
    assert (missing.returncode, "WHATSAPP_TOKEN not set" in missing.stderr) == (3, True)
    account = await farhand(whatsapp, "setup", WHATSAPP_WABA_ID="")
    assert (account.returncode, "WHATSAPP_WABA_ID not set" in account.stderr) == (3, True)
    refused = await farhand(whatsapp, "status", WHATSAPP_TOKEN="EAAwrong-token")
    assert (refused.returncode, "Meta refuses the token" in refused.stderr) == (3, True)
    assert "EAAwrong-token" not in refused.stdout + refused.stderr
    person = await farhand(whatsapp, "status", WHATSAPP_MANAGER="Mo")
    assert (person.returncode, "WHATSAPP_MANAGER" in person.stderr) == (2, True)
