"""`farhand service`: keeps a node running after log-out and reboot, by systemd's user units or launchd."""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from farhand.cli.end_node import end_bridge, end_tunnel
from farhand.cli.node_choice import choose
from farhand.cli.node_flag import add_node
from farhand.config.launch import read_launch
from farhand.config.places import node_folder
from farhand.manifests import channel_secrets
from farhand.model.errors import NodeError, SettingMissing
from farhand.sandbox.environment import without_secrets

SECONDS = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `service` takes."""
    add_node(parser)
    parser.add_argument("what", choices=("install", "uninstall", "print"), help="what to do; print only shows the file")
    parser.add_argument("--dir", dest="directory", type=Path, help="where it starts (default: as it was set up)")


def run(arguments: argparse.Namespace) -> int:
    """Does it; the unit names no secret, for the node reads its own env file."""
    node = choose(arguments)
    chosen = arguments.directory or Path(os.environ.get("FARHAND_DIRECTORY") or Path.cwd())
    directory = chosen.expanduser().absolute()
    mac = sys.platform == "darwin"
    text = launchd(node, directory) if mac else systemd(node, directory)
    path = unit_path(node, mac=mac)
    match arguments.what:
        case "print":
            sys.stdout.write(text)
        case "install":
            _install(node, path, text, mac=mac)
        case _:
            _uninstall(node, path, mac=mac)
    return 0


def unit_path(node: str, *, mac: bool) -> Path:
    """Where the file belongs."""
    at = Path(os.environ.get("HOME") or Path.home())
    if mac:
        return at / "Library" / "LaunchAgents" / f"farhand.{node}.plist"
    return Path(os.environ.get("XDG_CONFIG_HOME") or at / ".config") / "systemd" / "user" / f"farhand-{node}.service"


def systemd(node: str, directory: Path) -> str:
    """The unit. `KillMode=process`: agents live on when the node is restarted, as after every other end of it."""
    words = " ".join(_quoted(word) for word in _words(node))
    home = os.environ.get("FARHAND_HOME")
    variables = f'Environment="FARHAND_HOME={home}"\n' if home else ""
    return f"""[Unit]
Description=Farhand node {node}
After=network-online.target

[Service]
ExecStart={words}
WorkingDirectory={str(directory).replace("%", "%%")}
Environment="PATH={os.environ.get("PATH", "").replace("%", "%%")}"
{variables}KillMode=process
Restart=on-failure
RestartSec=2

[Install]
WantedBy=default.target
"""


def launchd(node: str, directory: Path) -> str:
    """The property list."""
    words = "".join(f"    <string>{escape(word)}</string>\n" for word in _words(node))
    path = escape(os.environ.get("PATH", ""))
    given = os.environ.get("FARHAND_HOME")
    home = f"<key>FARHAND_HOME</key><string>{escape(given)}</string>" if given else ""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>farhand.{node}</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>WorkingDirectory</key><string>{escape(str(directory))}</string>
  <key>EnvironmentVariables</key><dict><key>PATH</key><string>{path}</string>{home}</dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
"""


def _words(node: str) -> list[str]:
    """As it was run last, and nobody is asked anything."""
    flags = read_launch(node_folder(node, os.environ), node).flags
    return [sys.executable, "-m", "farhand", "run", "--node", node, "--headless", *flags]


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _install(node: str, path: Path, text: str, *, mac: bool) -> None:
    folder = node_folder(node, os.environ)
    if not (folder / "env").exists():
        raise SettingMissing(f"Node '{node}' has no env file.", hints=(f"farhand setup --node {node} --no-start",))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    sys.stdout.write(f"Written: {path}\n")
    if not mac and not _call("systemctl", "--user", "daemon-reload"):
        return
    if end_bridge(node, folder) is not None:
        # Two of one node cannot be; its agents live on, and the service finds them.
        sys.stdout.write(f"Node '{node}' ran by itself and was stopped; from now on the service runs it.\n")
        end_tunnel(folder)
    if mac:
        _call("launchctl", "load", "-w", str(path))
        return
    _call("systemctl", "--user", "enable", "--now", path.name)
    sys.stdout.write("So that it also runs while you are logged out: loginctl enable-linger\n")


def _uninstall(node: str, path: Path, *, mac: bool) -> None:
    if not path.exists():
        raise NodeError(f"There is no {path}.", hints=(f"farhand service install --node {node}",))
    _call("launchctl", "unload", "-w", str(path)) if mac else _call(
        "systemctl", "--user", "disable", "--now", path.name
    )
    path.unlink()
    sys.stdout.write(f"Removed: {path}\n")


def _call(*words: str) -> bool:
    """Calls the system's own program; where that fails the file is still right, and a person can do it by hand."""
    try:
        done = subprocess.run(
            words,
            env=without_secrets(os.environ, channel_secrets()),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        problem = (done.stderr or done.stdout).strip() if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        problem = str(error)
    if problem:
        sys.stderr.write(f"⚠ {' '.join(words)}: {problem.splitlines()[0]}\n")
    return not problem
