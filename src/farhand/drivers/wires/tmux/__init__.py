"""The tmux wire: an agent's terminal, reached in control mode, where a person can sit down at any time."""

from farhand.drivers.wires.tmux.errors import TmuxError, TmuxGone, TmuxMissing, TmuxRefused, TmuxUnreachable
from farhand.drivers.wires.tmux.server import Death, Pane, Size, Tmux

__all__ = ["Death", "Pane", "Size", "Tmux", "TmuxError", "TmuxGone", "TmuxMissing", "TmuxRefused", "TmuxUnreachable"]
