"""Fill the template: numbers as people read them, every text escaped, one script and no other."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup, escape

from spatialsplit.report.figures import length

PARTS = Path(__file__).parent / "page"
SCRIPTS = ("tables.js", "map_view.js", "map_drawing.js", "map.js")


def render(contents: Mapping[str, Any]) -> str:
    """Fill the template; every text from the data is escaped, and only the page's own script may run."""
    script = "".join((PARTS / name).read_text("utf-8") for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            contents, style=Markup((PARTS / "style.css").read_text("utf-8")), script=Markup(script), script_hash=digest
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(loader=FileSystemLoader(PARTS), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"n": _number, "length": length, "percent": _percent, "bytes": _bytes}
    environment.filters |= {"breaks": _breaks, "quoted": _quoted, "s": _plural}
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return environment


def _number(value: Any) -> str:
    """Write a number as people read it; what is not known is a dash."""
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if isinstance(value, float) else str(value)


def _plural(count: Any) -> str:
    return "" if count == 1 else "s"


def _percent(share: Any) -> str:
    return "–" if share is None else f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def _breaks(name: str) -> Any:
    """Let a long name break after its underscores."""
    return Markup(str(escape(name)).replace("_", "_<wbr>"))


def _quoted(text: str) -> str:
    """Let a text stand between the single quotes of a command: a reader will paste it into a shell."""
    return text.replace("'", "'\\''")


def _bytes(count: Any) -> str:
    if not isinstance(count, int):
        return "–"
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB"
