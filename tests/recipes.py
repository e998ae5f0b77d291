"""Recipes for tests: small tables and the recipe that goes with them, written into a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

TEST_HALF = '[[holdouts]]\nname = "test"\nshare = 0.5\n'

PA_HEADER = "patchID,dayOfYear,date,lon,lat,speciesId"
PO_HEADER = "glcID,date,lon,lat,speciesId"


def write_recipe(
    folder: Path,
    *,
    pa: str | Path = "pa.csv",
    po: str | Path | None = None,
    more: str = "",
    holdouts: str = TEST_HALF,
    top: str = 'seed = "s"',
) -> Path:
    """Write a recipe that names the given inputs; `more` is put at its end, `top` at its start."""
    tables = f'[inputs.pa]\npath = "{pa}"\n' + (f'[inputs.po]\npath = "{po}"\n' if po else "")
    path = folder / "recipe.toml"
    path.write_text(f'name = "t"\n{top}\n{tables}{holdouts}{more}')
    return path


def write_csv(path: Path, header: str, rows: Sequence[str]) -> Path:
    """Write lines under a header."""
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def four_quadrats(species: Mapping[int, Sequence[int]] | None = None) -> list[str]:
    """Give rows of four surveys in four quadrats 0.2 degrees apart; by default all have the species 1 and 2."""
    species = species or {}
    return [
        f"p{i},{10 + i},2021-01-{10 + i},{5 + 0.2 * i:.1f},45.0,{each}"
        for i in range(4)
        for each in species.get(i, [1, 2])
    ]
