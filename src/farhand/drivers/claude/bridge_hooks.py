"""The file bridge's hooks as Claude Code wants them, in the project's settings that are not shared."""

from farhand.drivers.claude.tmux.screen import read_prompt
from farhand.drivers.wires.hooks.bridge import BridgeHooks

HOOKS = BridgeHooks(
    settings=".claude/settings.local.json",
    before="UserPromptSubmit",
    after="Stop",
    timeout=5,
    decision="block",
    read_box=read_prompt,
    advice="Claude Code runs them from its next start on.",
)
