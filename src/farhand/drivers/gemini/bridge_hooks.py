"""The file bridge's hooks as Gemini CLI wants them: time-outs in milliseconds, the answer read off the transcript."""

from farhand.drivers.gemini.tmux.screen import read_prompt
from farhand.drivers.wires.hooks.bridge import BridgeHooks

HOOKS = BridgeHooks(
    settings=".gemini/settings.json",
    before="BeforeAgent",
    after="AfterAgent",
    timeout=5000,
    decision="deny",
    read_box=read_prompt,
    records="gemini",
    before_each=True,
    matcher="*",
    advice="Gemini CLI runs them in a trusted folder, from its next start on.",
)
