"""Writes the reference of the SDK: every name that `farhand.sdk` exports, its signature, its use, its members."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

import farhand.sdk

GROUPS = {
    "Agents": (
        "agent",
        "agent_options",
        "extensions",
        "subagents",
        "skills",
        "mcp",
        "acp",
        "sandbox",
        "container_sandbox",
        "telemetry",
    ),
    "Sessions, runs, results": ("session", "run", "result", "messages", "recorded_sessions", "prompt", "budget"),
    "Events": ("events",),
    "Tools and context": ("tools", "protocols", "workspace", "terminal", "settings", "memory"),
    "Rules": ("policies",),
    "Hooks": ("hooks",),
    "Models": ("models",),
    "Errors": ("errors",),
}
LONGEST_LINE = 110


def page(written: str) -> str:
    """The page of the SDK's names."""
    found = {name: getattr(farhand.sdk, name) for name in farhand.sdk.__all__ if name != "GeminiCliAgent"}
    parts = [f"# The SDK's names\n\n{written}\nAll are imported from `farhand.sdk`. `GeminiCliAgent` is `Agent`.\n"]
    for title, homes in GROUPS.items():
        names = [name for name in found if _group(name, found[name]) == title]
        errors = [name for name in names if _is_error(found[name])]
        parts.append(f"## {title}\n")
        parts += [
            section(name, found[name])
            for name in sorted(set(names) - set(errors), key=lambda name: (name.lower(), name))
        ]
        parts += [error_table([(name, found[name]) for name in sorted(errors)])] if errors else []
        assert homes, title
    return "\n".join(parts)


def _group(name: str, thing: Any) -> str:
    if _is_error(thing):
        return "Errors"
    home = farhand.sdk.home_of(name).partition(".")[0]
    return next(title for title, homes in GROUPS.items() if home in homes)


def _is_error(thing: Any) -> bool:
    return isinstance(thing, type) and issubclass(thing, Exception)


def error_table(errors: list[tuple[str, Any]]) -> str:
    """Errors in a table."""
    rows = "".join(f"| `{name}` | `{one.__base__.__name__}` | {said(one)} |\n" for name, one in errors)
    return f"| error | is a | means |\n|---|---|---|\n{rows}"


def section(name: str, thing: Any) -> str:
    """One name."""
    if typing.is_typeddict(thing):
        keys = "".join(f"| `{key}` | `{cell(value)}` |\n" for key, value in thing.__annotations__.items())
        return f"### {name}\n\n{said(thing)}\n\n| key | is |\n|---|---|\n{keys}"
    if isinstance(thing, type):
        return f"### {name}\n\n{head(name, thing)}{whole(thing)}\n\n{members(thing)}"
    if inspect.isfunction(thing):
        return f"### {name}\n\n```python no-run\n{signature(name, thing)}\n```\n\n{whole(thing)}\n"
    return f"### {name}\n\n`{plain(thing)}`\n"


def head(name: str, thing: type) -> str:
    """How an object is made, where people make it."""
    if getattr(thing, "_is_protocol", False):
        return ""
    return f"```python no-run\n{signature(name, thing)}\n```\n\n"


def members(thing: type) -> str:
    """The public methods and properties of a class, and the fields of a dataclass."""
    rows = "".join(f"| `{cell(how)}` | {text} |\n" for how, text in _members(thing))
    return f"| member | is |\n|---|---|\n{rows}" if rows else ""


def _members(thing: type) -> Iterator[tuple[str, str]]:
    if is_dataclass(thing) or getattr(thing, "_is_protocol", False):
        for name, value in inspect.get_annotations(thing).items():
            if not name.startswith("_") and "ClassVar" not in str(value):
                yield f"{name}: {plain(value)}", ""
    for name, member in vars(thing).items():
        if name.startswith("_"):
            continue
        inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if inspect.isfunction(inner):
            yield " ".join(signature(name, inner).split()), said(inner)
        elif isinstance(member, property):
            yield f"{name}: {plain(inspect.get_annotations(member.fget).get('return', ''))}", said(member)  # type: ignore[arg-type]


def signature(name: str, thing: Any) -> str:
    """The call of a function or a class, without `self`."""
    taken = inspect.signature(thing)
    kept = [one for one in taken.parameters.values() if one.name not in ("self", "cls")]
    text = f"{name}{plain(taken.replace(parameters=kept))}"
    text = text.removesuffix(" -> None") if isinstance(thing, type) else text
    prefix = "async " if inspect.iscoroutinefunction(thing) or inspect.isasyncgenfunction(thing) else ""
    if len(prefix + text) <= LONGEST_LINE:
        return prefix + text
    star = ["*"] if kept and all(one.kind is one.KEYWORD_ONLY for one in kept) else []
    lines = ",\n    ".join([*star, *(plain(one) for one in kept)])
    end = text[text.rindex(")") :] if ") -> " not in text else text[text.rindex(") -> ") :]
    return f"{prefix}{name}(\n    {lines},\n{end}"


def plain(value: Any) -> str:
    """A type or a default as it is written, the same on every machine."""
    if isinstance(value, typing.ForwardRef):
        return value.__forward_arg__
    text = value.__name__ if isinstance(value, type) else str(value)
    text = re.sub(r"<(?:function|class) ([^ >]+)(?: at 0x[0-9a-f]+)?>", r"\1", text)
    text = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", text)
    # Annotations are kept as texts.
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    return re.sub(r"(?:typing|collections\.abc|farhand(?:\.\w+)+|pathlib)\.(?=\w)", "", text)


def cell(text: Any) -> str:
    """Text that stands in a cell of a table."""
    return plain(text).replace("|", "\\|").replace("\n", " ")


def said(thing: Any) -> str:
    """The first sentence or two of a docstring, on one line."""
    return whole(thing).split("\n\n")[0].replace("|", "\\|").replace("\n", " ")


def whole(thing: Any) -> str:
    """A docstring as it is."""
    return inspect.cleandoc(thing.__doc__ or "") if _has_doc(thing) else ""


def _has_doc(thing: Any) -> bool:
    text = thing.__doc__ or ""
    # A dataclass without one gets its signature as its docstring.
    return not text.startswith(f"{getattr(thing, '__name__', '')}(")
