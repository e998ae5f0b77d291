"""The reference of commands and of the API, written from the code into `docs/generated/` whenever the site is built."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import spatialsplit
from spatialsplit.cli import COMMANDS, cli

EXAMPLE = re.compile(r"^Example: +((?:.*\\\n)*.*)$")

MEMBERS = ["   :members:", "   :exclude-members: set_split_request"]
"""What scikit-learn adds to each splitter is described there."""

FURTHER = ("rasters",)
"""Modules of which no name stands at the top, and which pages speak of."""


def write_pages(folder: Path) -> None:
    """Write both references; a page that would stay the same is left alone, so that it is not built again."""
    pages = {"commands.md": commands_page(), "api.md": api_page()}
    pages |= {f"api/{home}.md": module_page(home) for home in homes()}
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def commands_page() -> str:
    """Give all commands with their options, in the order of the work."""
    context = click.Context(cli, info_name="spatialsplit")
    lines = [
        "# Commands",
        "",
        "`spatialsplit COMMAND --help` says the same. Results go to standard output, messages to standard error. Exit",
        "codes: 0 fine, 1 bad input or recipe, 2 usage, 3 a check failed.",
        "",
        "| command | what it does |",
        "|---|---|",
        *(f"| [{name}](#{name}) | {entry.help} |" for name, entry in COMMANDS.items()),
        "",
    ]
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        lines += _command(f"spatialsplit {name}", command, level=2)
    return "\n".join(lines)


def _command(path: str, command: click.Command, level: int) -> Iterator[str]:
    """Give one command, and those under it."""
    context = click.Context(command, info_name=path)
    yield from (f"{'#' * level} {path.removeprefix('spatialsplit ')}", "", "```text", command.get_usage(context)[7:])
    yield from ("```", "", *_paragraphs(command.help or ""))
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from _command(f"{path} {name}", child, level + 1)


def _paragraphs(text: str) -> Iterator[str]:
    """Give a help text as Markdown: examples as blocks to copy, tables as they stand."""
    examples = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        plain = paragraph.removeprefix("\b\n")
        example = EXAMPLE.match(plain)
        if example:
            examples.append(re.sub(r"\n +", "\n    ", example[1]))
        elif plain != paragraph:
            yield from ("```text", plain, "```", "")
        else:
            yield from (plain.replace("<", "\\<").replace("|", "\\|"), "")
    if examples:
        yield from ("```sh", *examples, "```", "")


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Give the options of a command as a table."""
    records = [param.get_help_record(context) for param in command.get_params(context)]
    told = [record for record in records if record and record[1] and not record[0].endswith("--help")]
    if not told:
        return
    yield from ("| option | |", "|---|---|")
    for names, text in told:
        yield f"| `{names.replace('|', ' or ')}` | {text.replace('|', chr(92) + '|').replace('<', chr(92) + '<')} |"
    yield ""


def homes() -> list[str]:
    """Name the modules of the API, in the order of their names."""
    return sorted({*(_home_of(name) for name in spatialsplit.__all__), *FURTHER})


def _home_of(name: str) -> str:
    return next(home for home, names in spatialsplit._HOMES.items() if name in names)


def api_page() -> str:
    """Give every public name with its one line, by module."""
    lines = [
        "# Python",
        "",
        "Names with `ss.` stand at the top (`import spatialsplit as ss`) and are imported when first used. The",
        "others are imported from their module: `from spatialsplit.diagnostics import mess`.",
        "",
        "```{toctree}",
        ":hidden:",
        "",
        *(f"api/{home}" for home in homes()),
        "```",
        "",
    ]
    for home in homes():
        lines += [f"## [{home}](api/{home}.md)", "", "| name | |", "|---|---|"]
        for name in names_in(home):
            value = getattr(importlib.import_module(f"spatialsplit.{home}"), name)
            lines.append(
                f"| {{py:obj}}`{'ss.' if name in spatialsplit.__all__ else ''}{name} <spatialsplit.{home}.{name}>`"
                f" | {_first_line(value)} |"
            )
        lines.append("")
    return "\n".join(lines)


def names_in(home: str) -> list[str]:
    """Name what is public in a module, what stands at the top first."""
    module = importlib.import_module(f"spatialsplit.{home}")
    top = [name for name in spatialsplit.__all__ if _home_of(name) == home]
    further = [name for name in getattr(module, "__all__", []) if name not in top]
    return [*top, *(name for name in further if _has_words(getattr(module, name)))]


def _has_words(value: Any) -> bool:
    """Tell whether a value has a docstring of its own: a type alias and a table of presets have that of their type."""
    return inspect.isclass(value) or inspect.isroutine(value)


def _first_line(value: Any) -> str:
    first = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return first.replace("|", "\\|") if inspect.isclass(value) or callable(value) else ""


def module_page(home: str) -> str:
    """Give the page of one module: its own words, then every name with its docstring."""
    module = importlib.import_module(f"spatialsplit.{home}")
    lines = [
        f"# spatialsplit.{home}",
        "",
        "```{eval-rst}",
        f".. automodule:: spatialsplit.{home}",
        "   :no-members:",
        "",
    ]
    for name in names_in(home):
        value = getattr(module, name)
        kind = "class" if inspect.isclass(value) else "function"
        if inspect.isclass(value) and issubclass(value, BaseException):
            kind = "exception"
        lines += [f".. auto{kind}:: spatialsplit.{home}.{name}", *(MEMBERS if kind == "class" else []), ""]
    return "\n".join([*lines, "```", ""])
