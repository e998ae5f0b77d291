"""Faults that the model of a recipe finds → lines for a person, one a fault."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from spatialsplit.errors import first_few, nearest_name, shown
from spatialsplit.recipe.sections import Recipe

Place = tuple[str | int, ...]

KINDS = {
    "model_type": "a section of its own",
    "dict_type": "a section of its own",
    "list_type": "a list",
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
}
"""What a value must be, by the model's name for the fault."""


def complaints(error: ValidationError, content: Mapping[str, Any], where: str) -> list[str]:
    """Word all that the model found, a line for each place in the recipe.

    Parameters
    ----------
    error : pydantic.ValidationError
    content : mapping
        The recipe as written.
    where : str
        The file.
    """
    faults: dict[Place, list[dict[str, Any]]] = {}
    for fault in error.errors():
        faults.setdefault(_written_place(fault["loc"], content), []).append(dict(fault))
    return [_complaint(place, found, where) for place, found in faults.items()]


def _written_place(location: Place, content: Any) -> Place:
    """Give the part of a location that stands in the recipe: the model adds the names of types it tried."""
    place: list[str | int] = []
    for part in location:
        if isinstance(part, int):
            inside = isinstance(content, list) and part < len(content)
        else:
            inside = isinstance(content, Mapping) and part in content
        place.append(part)
        if not inside:
            return tuple(place if isinstance(content, Mapping) else place[:-1])
        content = content[part]
    return tuple(place)


def _complaint(place: Place, found: list[dict[str, Any]], where: str) -> str:
    fault = found[0]
    names = [part for part in place if isinstance(part, str)]
    key = names[-1] if names else ""
    if fault["type"] == "extra_forbidden":
        known = _known_keys(names[:-1])
        near = nearest_name(key, known)
        hint = f" Did you mean '{near}'?" if near else ""
        return f"Unknown key '{shown(key)}' in {_section(place, where)}. Known: {first_few(known, shown=20)}.{hint}"
    if fault["type"] == "missing":
        return (
            f"Missing key '{key}' in {_section(place, where)}. A recipe needs name, seed, [inputs.pa] with a path, "
            "and one [[holdouts]] with name and share. Add it."
        )
    value = shown(json.dumps(fault["input"], default=str, ensure_ascii=False))
    said = " or ".join(dict.fromkeys(_said(each) for each in found))
    return f"Invalid value {value} of '{shown(key)}' in {_section(place, where)}: {said}. Correct it."


def _said(fault: Mapping[str, Any]) -> str:
    if fault["type"] == "string_pattern_mismatch":
        return "it must be letters, digits, dots, hyphens and underscores, and begin with a letter or digit"
    if fault["type"] in KINDS:
        return f"it must be {KINDS[fault['type']]}"
    message = str(fault["msg"])
    return message.replace("Input should be", "it must be") if "Input" in message else message[0].lower() + message[1:]


def _section(place: Place, where: str) -> str:
    """Name the section that a key stands in: `[po_filter] of recipe.toml`, `[[holdouts]] number 2 of recipe.toml`."""
    last = max((i for i, part in enumerate(place) if isinstance(part, str)), default=0)
    inside = place[:last]
    numbers = [part for part in inside if isinstance(part, int)]
    names = ".".join(part for part in inside if isinstance(part, str))
    if not names:
        return where
    return f"[[{names}]] number {numbers[-1] + 1} of {where}" if numbers else f"[{names}] of {where}"


def _known_keys(place: Sequence[str]) -> list[str]:
    """List the keys of a section, given as the names that lead to it."""
    model: type[BaseModel] = Recipe
    for name in place:
        annotation = model.model_fields[name].annotation
        nested = [part for part in _parts(annotation) if isinstance(part, type) and issubclass(part, BaseModel)]
        if not nested:
            return []
        model = nested[0]
    return list(model.model_fields)


def _parts(annotation: Any) -> list[Any]:
    arguments = getattr(annotation, "__args__", ())
    return [annotation, *(part for argument in arguments for part in _parts(argument))]
