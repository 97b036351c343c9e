"""Policies: rules that allow, ask or deny tool calls, in code and in the CLI's files. Imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from farhand.sdk.policies.files import read_policies
    from farhand.sdk.policies.judge import Judge, Ruling
    from farhand.sdk.policies.matching import Surroundings
    from farhand.sdk.policies.rules import PolicyError, Rule, allow, ask, deny, rule

_HOMES = {
    "Judge": "judge",
    "PolicyError": "rules",
    "Rule": "rules",
    "Ruling": "judge",
    "Surroundings": "matching",
    "allow": "rules",
    "ask": "rules",
    "deny": "rules",
    "read_policies": "files",
    "rule": "rules",
}

__all__ = [
    "Judge",
    "PolicyError",
    "Rule",
    "Ruling",
    "Surroundings",
    "allow",
    "ask",
    "deny",
    "read_policies",
    "rule",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"farhand.sdk.policies.{_HOMES[name]}"), name)
