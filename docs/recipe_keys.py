"""The keys of a recipe as tables, from the models themselves: `python -m docs.recipe_keys` renews `docs/recipe.md`."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from spatialsplit.occurrences import DROPPABLE
from spatialsplit.recipe import Recipe
from spatialsplit.recipe.cleaning import CleanSection

PAGE = Path(__file__).with_name("recipe.md")
BEGIN = "<!-- keys: written by python -m docs.recipe_keys, from spatialsplit/recipe -->"
END = "<!-- end of keys -->"

WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number", dict: "a table", list: "a list"}
ANY_REASON = (
    '| [a reason](#reasons) | `"error"`, `"drop"` or, if the row can be used, `"flag"` |  | '
    "What becomes of rows with that reason. What is left out is not looked for. |"
)
LIMITS = {Ge: ("ge", "at least"), Gt: ("gt", "more than"), Le: ("le", "at most"), Lt: ("lt", "less than")}


def tables() -> str:
    """Give a table of keys for each section, in the order of the models."""
    sections = {"": Recipe, "[inputs.pa] and [inputs.po]": _model(Recipe.model_fields["inputs"].annotation, "pa")}
    for name, field in Recipe.model_fields.items():
        model = _section_of(field.annotation)
        if model is not None and name != "inputs":
            sections[f"[[{name}]]" if get_origin(field.annotation) is list else f"[{name}]"] = model
    return "\n\n".join(_table(title, model) for title, model in sections.items())


def renewed(page: str) -> str:
    """Give the page with today's tables in place of those that it has."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{rest.split(END)[1]}"


def _table(title: str, model: type[BaseModel]) -> str:
    heading = f"### `{title}`".replace(" and ", "` and `") if title else "### Before the first section"
    rows = ["| key | value | default | what it says |", "|---|---|---|---|", *_rows(model)]
    return "\n".join([heading, "", *rows])


def _rows(model: type[BaseModel]) -> Iterator[str]:
    said = documented(model)
    reasons_told = False
    for name, field in model.model_fields.items():
        if _section_of(field.annotation) is not None:
            continue
        if model is CleanSection and name in DROPPABLE:  # [about] has a licence, too
            if not reasons_told:
                yield ANY_REASON
            reasons_told = True
            continue
        cells = [f"`{name}`", value_of(field), _default(field), said[name]]
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def documented(model: type[BaseModel]) -> dict[str, str]:
    """Give the text that stands under each key in the source."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0].body  # type: ignore[attr-defined]
    return {
        key.target.id: " ".join(text.value.value.split())
        for key, text in itertools.pairwise(body)
        if isinstance(key, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
    }


def value_of(field: FieldInfo) -> str:
    """Say in words what a key takes."""
    return " or ".join(_words(field.annotation)) + _limits(field)


def _words(annotation: Any) -> Iterator[str]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        yield from _words(arguments[0])
    elif origin in (Union, UnionType):
        for part in arguments:
            if part is not NoneType:
                yield from _words(part)
    elif origin is Literal:
        yield ", ".join(f"`{json.dumps(each)}`" for each in arguments)
    elif origin is list:
        inside = " or ".join(_words(arguments[0]))
        yield "a list of " + {"text": "texts", "a whole number": "whole numbers"}.get(inside, inside)
    else:
        yield WORDS[origin or annotation]


def _limits(field: FieldInfo) -> str:
    """Say the bounds of a number, wherever its type carries them."""
    parts = [field.annotation, *get_args(field.annotation)]
    marks = [*field.metadata, *(mark for part in parts for mark in getattr(part, "__metadata__", ()))]
    flat = [inner for mark in marks for inner in (mark.metadata if isinstance(mark, FieldInfo) else [mark])]
    said = [
        f"{word} {getattr(mark, name):,}"
        for mark in flat
        for kind, (name, word) in LIMITS.items()
        if isinstance(mark, kind)
    ]
    return f", {' and '.join(said)}" if said else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "needed"
    return "" if field.default is None else f"`{json.dumps(field.default)}`"


def _section_of(annotation: Any) -> type[BaseModel] | None:
    """Give the model that a key's type speaks of, if it is a section."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation
    found = (_section_of(part) for part in get_args(annotation))
    return next((model for model in found if model is not None), None)


def _model(annotation: Any, name: str) -> type[BaseModel]:
    outer = _section_of(annotation)
    inner = outer and _section_of(outer.model_fields[name].annotation)
    assert inner is not None
    return inner


def main() -> None:
    """Write the page anew."""
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")
    sys.stdout.write(f"{PAGE.name}: {len(tables().splitlines())} lines of keys\n")


if __name__ == "__main__":
    main()
