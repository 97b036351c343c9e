"""The team of claudecode-telegram, as its documentation describes what it leaves, goes on in a node of ours: its Claude
Code in tmux, its Stop hook, its files. No answer comes twice, and none is lost."""

from __future__ import annotations

import json
import shutil

import anyio
import pytest

from farhand.testing.claude_env import ClaudeEnv, until
from farhand.testing.models.script import Hold, ScriptedReply, ScriptedText, say
from farhand.testing.phone import MANAGER, Phone
from farhand.testing.telegram import FakeBot

pytestmark = pytest.mark.anyio

# By the protocol that the original documents: its session's variables, the transcript behind the last prompt, a post in
# the background, the pending file gone at once.
STOP_HOOK = r"""#!/bin/bash
transcript=$(jq -r .transcript_path)
session=$(tmux display-message -p '#{session_name}')
value() { tmux show-environment -t "$session" "$1" 2>/dev/null | cut -d= -f2-; }
prefix=$(value TMUX_PREFIX)
[[ -n "$prefix" && "$session" == "$prefix"* ]] || exit 0
worker=${session#"$prefix"}
said=""
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  line=$(grep -n '"type":"user"' "$transcript" | tail -1 | cut -d: -f1)
  said=$(tail -n +"$line" "$transcript" | grep '"type":"assistant"' \
    | jq -rs '[.[].message.content[] | select(.type == "text") | .text] | join("\n\n")')
  [[ -n "$said" ]] && break
  sleep 0.5
done
file=$(mktemp)
printf %s "$said" > "$file"
timeout 5 python3 "$(dirname "$0")/forward-to-bridge.py" "$file" "$worker" "$(value BRIDGE_URL)/response" &
rm -f "$(value SESSIONS_DIR)/$worker/pending"
"""
FORWARDER = r"""
import html, json, re, sys, urllib.request
file, session, url = sys.argv[1:]
text = html.escape(open(file).read(), quote=False)
text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
body = json.dumps({"session": session, "text": text}).encode()
urllib.request.urlopen(urllib.request.Request(url, body, {"Content-Type": "application/json"}), timeout=5)
"""


class EarlierBridge:
    """What the original has left: files, a hook in the person's settings, Claude Code in a shell in tmux."""

    def __init__(self, cli_env: ClaudeEnv, phone: Phone) -> None:
        self.cli_env = cli_env
        self.node = cli_env.folder / "farhand" / "nodes" / "test"
        self.carried = {
            "BRIDGE_URL": f"http://localhost:{phone.port}",
            "PORT": str(phone.port),
            "SESSIONS_DIR": str(self.node / "sessions"),
            "TMUX_PREFIX": "claude-test-",
            "WORKER_BACKEND": "claude",
        }

    def leave_files(self) -> None:
        """The manager, the focus, a folder for each worker, and its Stop hook in the settings of Claude Code."""
        for name, backend in (("ann", "claude"), ("bob", "codex")):
            folder = self.node / "sessions" / name
            folder.mkdir(parents=True)
            (folder / "chat_id").write_text(f"{MANAGER}")
            (folder / "backend").write_text(backend)
        (self.node / "last_chat_id").write_text(f"{MANAGER}")
        (self.node / "last_active").write_text("ann")
        hooks = self.cli_env.home / ".claude" / "hooks"
        hooks.mkdir(parents=True)
        (hooks / "forward-to-bridge.py").write_text(FORWARDER)
        (hooks / "send-to-telegram.sh").write_text(STOP_HOOK)
        (hooks / "send-to-telegram.sh").chmod(0o755)
        entry = {"type": "command", "command": str(hooks / "send-to-telegram.sh")}
        settings = {"hooks": {"Stop": [{"hooks": [entry]}]}, "skipDangerousModePermissionPrompt": True}
        (self.cli_env.home / ".claude" / "settings.json").write_text(json.dumps(settings))
        key = self.cli_env.environment["ANTHROPIC_API_KEY"][-20:]
        account = {
            "hasCompletedOnboarding": True,
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [key], "rejected": []},
            "projects": {str(self.cli_env.project.resolve()): {"hasTrustDialogAccepted": True}},
        }
        (self.cli_env.home / ".claude.json").write_text(json.dumps(account))

    async def start_ann(self) -> None:
        """A shell in tmux, into which its start command is typed."""
        place = ("-s", "claude-test-ann", "-c", str(self.cli_env.project), "-x", "160", "-y", "50")
        await self.tmux("new-session", "-d", *place, "-e", "IS_SANDBOX=1")
        for name, value in self.carried.items():
            await self.tmux("set-environment", "-t", "claude-test-ann", name, value)
        # A login shell forgets the PATH that it was given.
        program = shutil.which("claude", path=self.cli_env.environment["PATH"])
        await self.says(f"{program} --dangerously-skip-permissions")
        await self.shows("bypass permissions")

    async def says(self, text: str) -> None:
        """As the original speaks to a worker."""
        await self.tmux("send-keys", "-t", "claude-test-ann", "-l", text)
        await self.shows(text[-30:])
        await self.tmux("send-keys", "-t", "claude-test-ann", "Enter")

    async def shows(self, words: str) -> None:
        async with self.cli_env.tmux.opened() as tmux:
            await until(self.cli_env, (await tmux.find("claude-test-ann"))["claude-test-ann"], words)

    async def tmux(self, *words: str) -> str:
        done = await anyio.run_process([*self.cli_env.server, *words], env=self.cli_env.environment)
        return done.stdout.decode()


async def test_its_team_goes_on_here_and_no_answer_is_lost_or_comes_twice(cli_env: ClaudeEnv, bot: FakeBot) -> None:
    phone = Phone(cli_env, bot, {})
    before = EarlierBridge(cli_env, phone)
    before.leave_files()
    script = cli_env.model.script
    script.conversation("zz-first", say("the first answer"))
    script.conversation("zz-long", ScriptedReply((ScriptedText("half "), Hold("long"), ScriptedText("and **whole**"))))
    script.conversation("zz-after", say("here I am, as before"))
    await before.start_ann()
    await before.says("zz-first")
    await before.shows("the first answer")
    await before.says("zz-long")
    await cli_env.model.asked("zz-long")
    await phone.manager.says("/team")
    await phone.start()
    try:
        told = await phone.reads("Taken over from the bridge before:")
        assert f"- ann (claude · mode yolo · {cli_env.project.resolve()}, in its terminal)" in told.text
        assert "- bob (codex" in told.text
        team = await phone.reads("Your team:")
        assert "Focused: ann" in team.text
        script.release("long")
        await phone.hears("and whole")
        await phone.manager.says("zz-after")
        await phone.hears("here I am, as before")
        assert await phone.answers("and whole") == await phone.answers("here I am, as before") == 1
        assert await phone.answers("the first answer") == 0
        asked = await cli_env.model.asked("zz-after")
        assert "zz-first" in str(asked), "it is another conversation"
        assert await before.tmux("display-message", "-p", "-t", "=claude-test-ann:", "#{@farhand}") != "\n"
        log = (cli_env.folder / "node.log").read_text()
        assert "Another bridge has left a team here" in log
        # The original's own road, once more: its hook is still in the settings and posts what we have told.
        assert await phone.answers("here I am, as before") == 1
    finally:
        with anyio.CancelScope(shield=True):
            await phone.kill()
            await phone.tidy()
