"""Values of options that are two things in one: a name and a value, or two numbers."""

from __future__ import annotations

from typing import Any

import click


class Pair(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in newer click only
    """Two words with an equals sign between."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Cut at the first equals sign."""
        name, mark, rest = str(value).partition("=")
        if not (name and mark):
            self.fail(f"'{value}' is not of the form NAME=VALUE.", param, ctx)
        return name, rest


class WholePair(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # as above
    """Two whole numbers with a comma between."""

    name = "a,b"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Read both numbers."""
        if isinstance(value, tuple):
            return value
        try:
            first, second = (int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"'{value}' is not two whole numbers of metres with a comma between, such as 0,0.", param, ctx)
        return first, second
