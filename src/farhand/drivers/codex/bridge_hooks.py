"""The file bridge's hooks as Codex wants them, beside the project's own settings."""

from farhand.drivers.codex.tmux.screen import read_box
from farhand.drivers.wires.hooks.bridge import BridgeHooks

HOOKS = BridgeHooks(
    settings=".codex/hooks.json",
    before="UserPromptSubmit",
    after="Stop",
    timeout=5,
    decision="block",
    read_box=read_box,
    advice="Codex asks at its next start whether these hooks are trusted: trust them, or they do not run.",
)
