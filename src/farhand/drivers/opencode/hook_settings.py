"""Our plugin in a person's own OpenCode, which has no hooks: it runs the same program when a session is idle."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from farhand.drivers.wires.foreign_json import JsonObject
from farhand.drivers.wires.hooks.person import HookPrograms, PersonHooks

WORDS = ("words",)

PLUGIN = """// Made by `farhand hook install`: answers of sessions that carry a bridge's variables go to that bridge.
import { spawn } from "node:child_process"

const PROGRAM = %(words)s

export const FarhandAnswers = async ({ client }) => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle" || !(process.env.TMUX || process.env.BRIDGE_SESSION)) return
    const path = { id: event.properties.sessionID }
    const session = await client.session.get({ path })
    if (!session.data || session.data.parentID) return
    const messages = (await client.session.messages({ path })).data ?? []
    const last = messages.findLastIndex((one) => one.info.role === "user")
    const parts = messages.slice(last + 1).flatMap((one) => one.parts)
    const said = parts.filter((one) => one.type === "text" && !one.synthetic).map((one) => one.text)
    const text = said.join("\\n\\n")
    const words = { session_id: path.id, prompt_id: messages[last]?.info.id, last_assistant_message: text }
    const child = spawn(PROGRAM[0], PROGRAM.slice(1), { stdio: ["pipe", "ignore", "ignore"] })
    child.on("error", () => {})
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(words))
    await new Promise((done) => child.on("close", done))
  },
})
"""


def settings_file(environment: Mapping[str, str]) -> Path:
    """The plugin that every session of this person loads."""
    config = environment.get("XDG_CONFIG_HOME") or Path(environment.get("HOME", "/")) / ".config"
    return Path(config) / "opencode" / "plugin" / "farhand.js"


def whole_file(programs: HookPrograms) -> str:
    """The plugin, which is a file of our own and no part of another."""
    return PLUGIN % {"words": json.dumps([programs.interpreter, "-I", "-S", str(programs.answers), *WORDS])}


def sample(_: Path, answer: str) -> JsonObject:
    """What the plugin would tell the program."""
    return {"session_id": "test", "prompt_id": answer, "last_assistant_message": answer}


HOOKS = PersonHooks(
    settings=settings_file,
    project=".opencode/plugin/farhand.js",
    sample=sample,
    whole_file=whole_file,
    words=WORDS,
    advice="OpenCode loads it at its next start, and fetches its plugin package from npm for that, once.",
)
