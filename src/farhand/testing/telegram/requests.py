"""Reads a call of the Bot API and lets aiogram's method classes say whether it is one that Telegram knows."""

from __future__ import annotations

import functools
import json
import types
import typing
from dataclasses import dataclass
from typing import Any

import aiogram.methods
import pydantic
from aiogram.client.default import Default
from aiogram.methods import TelegramMethod
from aiogram.types import InputFile
from starlette.datastructures import UploadFile
from starlette.requests import Request

from farhand.testing.telegram.errors import Refusal, bad_request


@dataclass(frozen=True)
class Upload:
    """A file that came with a call."""

    name: str
    content: bytes


@dataclass(frozen=True)
class BotRequest:
    """A call that was understood: its true name, its parameters as plain data, and its files."""

    method: str
    parameters: dict[str, Any]
    uploads: dict[str, Upload]


@functools.cache
def known_methods() -> dict[str, type[TelegramMethod[Any]]]:
    """Every method of the Bot API by its name in lower case, for Telegram does not mind the case."""
    found: dict[str, type[TelegramMethod[Any]]] = {}
    for name in aiogram.methods.__all__:
        kind = getattr(aiogram.methods, name)
        if isinstance(kind, type) and issubclass(kind, TelegramMethod) and hasattr(kind, "__api_method__"):
            method = kind.__dict__.get("__api_method__")
            if isinstance(method, str):
                found[method.lower()] = kind
    return found


def _parts(annotation: Any) -> set[Any]:
    if typing.get_origin(annotation) in {typing.Union, types.UnionType}:
        return set().union(*(_parts(one) for one in typing.get_args(annotation)))
    return {typing.get_origin(annotation) or annotation}


@functools.cache
def _is_structured(kind: type[TelegramMethod[Any]], field: str) -> bool:
    """Whether a field is an object or a list, which a form carries as JSON."""
    known = kind.model_fields.get(field)
    if known is None:
        return False
    parts = _parts(known.annotation) - {type(None), Default}
    return str not in parts and not parts <= {int, float, bool}


async def _fields(request: Request) -> tuple[dict[str, Any], dict[str, Upload]]:
    content_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    values: dict[str, Any] = dict(request.query_params)
    uploads: dict[str, Upload] = {}
    if content_type == "application/json":
        body = await request.body()
        try:
            payload = json.loads(body or b"{}")
        except ValueError as error:
            raise bad_request("can't parse JSON object") from error
        if not isinstance(payload, dict):
            raise bad_request("expected JSON object")
        values |= payload
    elif content_type in {"application/x-www-form-urlencoded", "multipart/form-data"}:
        async with request.form(max_part_size=60_000_000) as form:
            for name, value in form.multi_items():
                if isinstance(value, UploadFile):
                    uploads[name] = Upload(value.filename or name, await value.read())
                else:
                    values[name] = value
    return {name: value for name, value in values.items() if value is not None}, uploads


def _decoded(kind: type[TelegramMethod[Any]], values: dict[str, Any]) -> dict[str, Any]:
    decoded: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, str) and _is_structured(kind, name):
            try:
                decoded[name] = json.loads(value)
            except ValueError as error:
                raise bad_request(f"can't parse {name} JSON object") from error
        else:
            decoded[name] = value
    return decoded


def _unknown(value: Any, path: str = "") -> list[str]:
    """The names of everything in a request that the Bot API has no field for."""
    if isinstance(value, pydantic.BaseModel):
        extra = [f"{path}{name}" for name in value.model_extra or {}]
        return extra + [
            one for name in type(value).model_fields for one in _unknown(getattr(value, name), f"{path}{name}.")
        ]
    if isinstance(value, list | tuple):
        return [one for item in value for one in _unknown(item, path)]
    return []


def _sentence(error: pydantic.ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"][:1])
    if first["type"] == "missing":
        return {"text": "message text is empty", "chat_id": "chat_id is empty"}.get(place, f"{place} isn't specified")
    return f"can't parse {place}: {first['msg']}"


def checked(method: str, values: dict[str, Any], uploads: dict[str, Upload]) -> BotRequest:
    """The call as Telegram would take it; what it would not take is refused with its reason."""
    kind = known_methods().get(method.lower())
    if kind is None:
        raise Refusal(404, "Not Found")
    parameters = _decoded(kind, values)
    # A file under a field's own name is that field's value; under any other name it is spoken of by attach://.
    for name in uploads.keys() & kind.model_fields.keys():
        parameters[name] = f"attach://{name}"
    usable = {name: value for name, value in parameters.items() if not isinstance(value, InputFile)}
    try:
        parsed = kind.model_validate(usable)
    except pydantic.ValidationError as error:
        raise bad_request(_sentence(error)) from error
    unknown = _unknown(parsed)
    if unknown:
        raise bad_request(f"the Bot API has no field {', '.join(unknown)}")
    plain = {name: getattr(parsed, name) for name in parsed.model_fields_set if name in parameters}
    payload = {name: _plain(value, parameters[name]) for name, value in plain.items()}
    return BotRequest(str(kind.__dict__["__api_method__"]), payload, uploads)


def _plain(value: Any, given: Any) -> Any:
    """Validated scalars (a form's "12" is a number); structures as they were given."""
    if isinstance(value, str | int | float | bool):
        return value
    return given


async def read_call(request: Request, method: str) -> BotRequest:
    """The call that a request makes."""
    values, uploads = await _fields(request)
    return checked(method, values, uploads)
