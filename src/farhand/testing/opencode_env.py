"""An isolated environment for the real OpenCode: a configuration that names a fake model, in a HOME of its own."""

from __future__ import annotations

import json
from pathlib import Path

from farhand.testing.bun import SHORT_LIVED
from farhand.testing.cli_env import CliEnv
from farhand.testing.models.openai import FakeOpenAi

MODEL = "fake/fake-model"
OTHER_MODEL = "fake/other-model"


def configuration(address: str) -> dict[str, object]:
    """What a person would have in `opencode.json`; it lets everything run, as OpenCode does by itself."""
    limits = {"context": 100_000, "output": 8000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": f"{address}/v1", "apiKey": "fake"},
        "models": {
            name: {
                "name": name,
                "limit": limits,
                "reasoning": True,
                "attachment": True,
                "modalities": {"input": ["text", "image"]},
            }
            for name in ("fake-model", "other-model")
        },
    }
    return {
        # OpenCode writes this line itself where it is missing.
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "model": MODEL,
        "small_model": MODEL,
        "enabled_providers": ["fake"],
        "provider": {"fake": provider},
        "permission": {"bash": "allow", "edit": "allow"},
    }


# It calls nobody: no updates, no lists of models, and a registry at which nobody answers.
_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    # It reads the whole list of the world's models at every start, which is a fifth of that start's processor time.
    "OPENCODE_MODELS_PATH": str(Path(__file__).with_name("no_models.json")),
    **SHORT_LIVED,
    "npm_config_registry": "http://127.0.0.1:9",
    "BUN_CONFIG_REGISTRY": "http://127.0.0.1:9",
}
# A node passes on what begins with OPENCODE_, and of the rest what it is told to.
QUIET = {**_QUIET, "FARHAND_OPENCODE_PASS": ",".join(name for name in _QUIET if not name.startswith("OPENCODE_"))}


class OpenCodeEnv(CliEnv):
    """An isolated environment for OpenCode."""

    package = "opencode"

    def __init__(self, folder: Path, server: tuple[str, ...], model: FakeOpenAi, address: str, programs: Path) -> None:
        self.model = model
        self.script = model.script
        super().__init__(folder, folder / "home", server, programs, QUIET)
        (self.project / ".git").mkdir()
        self.settings = self.home / ".config" / "opencode" / "opencode.json"
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text(json.dumps(configuration(address)))
        # Where its screen keeps what a person chose in its menus. A turn that waits would cost a fifth of a core.
        chosen = self.home / ".local" / "state" / "opencode" / "kv.json"
        chosen.parent.mkdir(parents=True)
        chosen.write_text(json.dumps({"animations_enabled": False}))
