"""One self-contained file from the library's own source: what a platform runs cannot drift from what we test.

A program is a small module of this folder that calls the library. `bundle` finds every definition which that
program reaches, function by function, and writes them into one file without any import of ours. The modules
it draws from keep to the standard library and to Python 3.7 at run time.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PORTABLE_MODULES = (
    "spatialsplit.errors",
    "spatialsplit.metrics.arguments",
    "spatialsplit.metrics.labels",
    "spatialsplit.metrics.ranking",
    "spatialsplit.metrics.strings",
    "spatialsplit.submission.faults",
    "spatialsplit.submission.tables",
    "spatialsplit.submission.tasks",
    "spatialsplit.submission.checking",
)


@dataclass(frozen=True)
class Piece:
    """A top-level statement: its source, the names it binds and the names it reads."""

    source: str
    binds: frozenset[str]
    reads: frozenset[str]


def bundle(program: str, docstring: str, *, postponed_annotations: bool) -> str:
    """Write one file that holds a program and all it reaches.

    Parameters
    ----------
    program : str
        Source whose statements are all kept. Its own imports from spatialsplit are what is looked up.
    docstring : str
        Of the file.
    postponed_annotations : bool
        Begin with ``from __future__ import annotations``, which old Pythons need for ``list[str]``; without
        it, annotations are real objects, as a platform that inspects a signature expects.

    Returns
    -------
    str
        Python source: docstring, imports, definitions in the library's order, the program.
    """
    imports: dict[str, tuple[str, str]] = {}
    library: list[Piece] = []
    for name in PORTABLE_MODULES:
        library += _pieces(inspect.getsource(importlib.import_module(name)), imports)
    own = _pieces(program, imports)
    wanted = set(_reached(library, own))
    kept = [piece for piece in library if piece.binds & wanted]
    _check_distinct([*kept, *own])
    reads = frozenset[str]().union(*(piece.reads for piece in [*kept, *own]))
    head = ["from __future__ import annotations"] if postponed_annotations else []
    body = "\n\n\n".join(piece.source for piece in [*kept, *own])
    return "\n\n".join([f'"""{docstring}"""', *head, _import_lines(imports, reads), body]) + "\n"


def _pieces(source: str, imports: dict[str, tuple[str, str]]) -> list[Piece]:
    """Take a module apart; its imports from elsewhere than spatialsplit are added to `imports`."""
    lines = source.splitlines()
    pieces = []
    for statement in ast.parse(source).body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            imports.update(_foreign_imports(statement))
        elif not _is_left_out(statement):
            first = _first_line(statement, lines)
            text = "\n".join(lines[first : statement.end_lineno])
            scope = symtable.symtable(text, "<piece>", "exec")
            pieces.append(Piece(text, frozenset(_bound(statement)), frozenset(_read(scope))))
    return pieces


def _is_left_out(statement: ast.stmt) -> bool:
    is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    is_for_types = isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test)
    return is_docstring or is_for_types


def _foreign_imports(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the name that an import binds, with its beginning and what it takes."""
    module = getattr(statement, "module", None) or ""
    if module == "__future__" or module.startswith("spatialsplit"):
        return
    start = f"from {module} import " if module else "import "
    for alias in statement.names:
        yield alias.asname or alias.name, (start, ast.unparse(alias))


def _import_lines(imports: dict[str, tuple[str, str]], reads: frozenset[str]) -> str:
    taken: dict[str, set[str]] = {}
    for name, (start, what) in imports.items():
        if name in reads:
            # "import a" keeps a line of its own, "from a import b, c" shares one
            taken.setdefault(start if start.startswith("from") else start + what, set()).add(what)
    return "\n".join(
        start + ", ".join(sorted(names)) if start.startswith("from") else start
        for start, names in sorted(taken.items(), key=lambda item: (item[0].startswith("from"), item[0]))
    )


def _first_line(statement: ast.stmt, lines: list[str]) -> int:
    """Find where a statement begins, with its decorators and the comments right above it."""
    decorators = getattr(statement, "decorator_list", [])
    first: int = min([statement.lineno, *(decorator.lineno for decorator in decorators)]) - 1
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return first


def _bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _read(scope: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names that a scope reads, or one within it; a parameter's name is none."""
    is_module = scope.get_type() == "module"
    for symbol in scope.get_symbols():
        if symbol.is_referenced() and (is_module or symbol.is_global()):
            yield symbol.get_name()
    for inner in scope.get_children():
        yield from _read(inner)


def _reached(library: Iterable[Piece], program: Iterable[Piece]) -> Iterator[str]:
    """Yield every name of the library that the program needs, directly or not."""
    home = {name: piece for piece in library for name in piece.binds}
    waiting = [name for piece in program for name in piece.reads]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in home and name not in seen:
            seen.add(name)
            waiting += home[name].reads
            yield name


def _check_distinct(pieces: Iterable[Piece]) -> None:
    names = [name for piece in pieces for name in piece.binds]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RuntimeError(f"Two portable modules define {', '.join(twice)}; in one file the second would win.")
