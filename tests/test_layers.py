"""The architecture: imports point down. Each module may import from lower floors, and on its own floor what is said."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import spatialsplit

PACKAGE = Path(spatialsplit.__file__).parent

FLOORS: dict[int, set[str]] = {
    0: {"errors"},
    1: {"columns", "crs", "engine", "layouts", "publishing", "tables"},
    2: {
        "cluster",
        "distances",
        "draw",
        "metrics",
        "occurrences",
        "quadrats",
        "recipe",
        "surveys",
        "synthetic",
    },
    3: {"describing", "folds", "grids", "manifest", "po_filter", "rasters", "split", "submission"},
    4: {"audit", "baselines", "diagnostics", "exports", "planting", "plots"},
    5: {"report"},
    6: {"build", "steps"},
    7: {"comparing"},
    8: {"__init__", "cli"},
    9: {"__main__"},
}
"""Each module or folder of the package stands on one floor; higher ones may import lower ones."""

SAME_FLOOR: dict[str, set[str]] = {
    "tables": {"crs"},
    "occurrences": {"distances"},
    "surveys": {"occurrences"},
    "split": {"folds"},
    "recipe": {"draw", "occurrences", "quadrats", "surveys"},
    "grids": {"folds"},
    "cli": {"__init__"},
}
"""What a module may import on its own floor."""

FORBIDDEN: dict[str, set[str]] = {
    "audit": {"quadrats", "draw", "distances", "crs", "po_filter", "surveys", "split"},
}
"""What a module may not import though it lies lower: the audit judges the build by other means than the build's own."""

FLOOR_OF = {name: floor for floor, names in FLOORS.items() for name in names}


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    """Give (module of ours, line) for each import in a file, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            below = "." if node.module == "spatialsplit" else None
            for alias in node.names if below else node.names[:1]:
                yield f"{node.module}.{alias.name}" if below else str(node.module), node.lineno


def our_home(module: str) -> str | None:
    """Give the module or folder of ours that a dotted name lies in."""
    parts = module.split(".")
    if parts[0] != "spatialsplit":
        return None
    return parts[1] if len(parts) > 1 and not parts[1].startswith("__version__") else "__init__"


def complaints(package: Path) -> list[str]:
    """Give every import that runs up, across, or where it may not."""
    found = []
    for path in sorted(package.rglob("*.py")):
        home = path.relative_to(package).with_suffix("").parts[0]
        for module, line in imports_of(path):
            other = our_home(module)
            if other is None or other == home:
                continue
            if other not in FLOOR_OF:
                found.append(f"{path.name}:{line} imports {module}, which stands on no floor")
                continue
            down = FLOOR_OF[other] < FLOOR_OF.get(home, -1) or other in SAME_FLOOR.get(home, set())
            if not down or other in FORBIDDEN.get(home, set()):
                found.append(f"{path.relative_to(package)}:{line} imports {module}")
    return found


def test_imports_point_down() -> None:
    """No module imports from its own floor or above, but for what SAME_FLOOR says."""
    assert complaints(PACKAGE) == []


def test_every_module_stands_on_a_floor() -> None:
    """A new module has to be given its floor."""
    homes = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in PACKAGE.rglob("*.py")}
    assert sorted(homes - set(FLOOR_OF)) == []


@pytest.mark.parametrize(
    ("home", "text", "said"),
    [
        ("crs.py", "from spatialsplit.quadrats import Grid", "crs.py:1 imports spatialsplit.quadrats"),
        ("audit/facts.py", "def f():\n    from spatialsplit import draw", "facts.py:2 imports spatialsplit.draw"),
        ("draw.py", "import spatialsplit.split", "draw.py:1 imports spatialsplit.split"),
        ("split.py", "from spatialsplit.nowhere import x", "which stands on no floor"),
    ],
)
def test_an_import_that_runs_up_is_named(home: str, text: str, said: str, tmp_path: Path) -> None:
    """The test itself finds what it is there to find, also inside functions."""
    (tmp_path / home).parent.mkdir(exist_ok=True)
    (tmp_path / home).write_text(text)
    assert said in complaints(tmp_path)[0]


@pytest.mark.parametrize("module", ["quadrats", "draw", "distances"])
def test_arithmetic_knows_no_table_and_no_path(module: str) -> None:
    """The arithmetic modules import neither pandas, pyarrow nor pathlib."""
    files = [*PACKAGE.glob(f"{module}.py"), *PACKAGE.glob(f"{module}/*.py")]
    imported = {name.split(".")[0] for file in files for name, _ in imports_of(file)}
    assert files
    assert not imported & {"pandas", "pyarrow", "pathlib", "geopandas"}
