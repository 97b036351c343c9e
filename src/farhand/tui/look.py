"""How the terminal app looks: its two themes and its style sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from textual.theme import Theme

Look: TypeAlias = Literal["auto", "light", "dark"]
DARK = Theme(
    name="farhand-dark",
    primary="#7aa2f7",
    secondary="#9aa5ce",
    accent="#bb9af7",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#d5d9e4",
    background="#16161e",
    surface="#1d1e28",
    panel="#262836",
    dark=True,
)
LIGHT = Theme(
    name="farhand-light",
    primary="#2e5ea8",
    secondary="#4b5a7a",
    accent="#7847bd",
    warning="#8f5e15",
    error="#b3243f",
    success="#3f6d12",
    foreground="#22252e",
    background="#fbfbfd",
    surface="#f0f1f6",
    panel="#e3e5ee",
    dark=False,
)
# The first colours of a terminal are dark ones; 7 is light grey, 8 dark grey.
_DARK_GROUNDS = frozenset(("0", "1", "2", "3", "4", "5", "6", "8"))


def theme_name(look: Look, environ: Mapping[str, str]) -> str:
    """The theme that was asked for; else the one that the terminal says it has (COLORFGBG), else the dark one."""
    if look != "auto":
        return LIGHT.name if look == "light" else DARK.name
    ground = environ.get("COLORFGBG", "").rpartition(";")[2]
    return DARK.name if not ground or ground in _DARK_GROUNDS else LIGHT.name


STYLE = """
Screen { background: $background; color: $foreground; layers: base over; }
#title { height: 1; padding: 0 1; background: $panel; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
#middle { height: 1fr; }
#team { width: 26; display: none; background: $surface; border: none; padding: 0 1; scrollbar-size-vertical: 1; }
#team.shown { display: block; }
#transcript { background: $background; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
#transcript { scrollbar-background: $background; scrollbar-color: $panel; scrollbar-color-hover: $secondary; }
#transcript { scrollbar-background-hover: $background; scrollbar-background-active: $background; }
#transcript:focus { background-tint: $foreground 2%; }
#ask { display: none; height: auto; max-height: 70%; border-top: heavy $warning; background: $surface; padding: 0 1; }
#ask-question { color: $text-warning; text-style: bold; height: auto; max-height: 4; }
#ask-question.short { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
#ask-whole { height: auto; max-height: 10; background: $panel; padding: 0 1; scrollbar-size-vertical: 1; }
#ask-detail, #ask-about { height: auto; }
#ask-about { color: $text-muted; }
#ask-choices, #candidates, #team { background: $surface; border: none; height: auto; max-height: 8; padding: 0; }
#team { height: 100%; max-height: 100%; padding: 0 1; }
#ask-hint { height: 1; }
#queue { display: none; height: auto; max-height: 4; padding: 0 1; color: $text-muted; background: $surface; }
#candidates { display: none; max-height: 7; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
#candidates, #ask-choices { scrollbar-size-vertical: 1; scrollbar-background: $surface; scrollbar-color: $panel; }
#line { height: auto; background: $surface; border-top: solid $panel; padding: 0 1; }
#mark { width: 2; height: 1; color: $primary; }
#prompt { height: auto; min-height: 1; max-height: 8; border: none; padding: 0; background: $surface; width: 1fr; }
#status { height: 1; padding: 0 1; color: $text-muted; background: $background; text-wrap: nowrap;
  text-overflow: ellipsis; }
"""
