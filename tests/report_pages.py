"""Datasets to report on, and what stands on their pages, read with Python's own HTML parser."""

from __future__ import annotations

import base64
import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from spatialsplit.build import build_dataset
from tests.recipes import write_csv, write_recipe

PARTS = ("map", "distance", "dropped", "species", "year", "environment", "audit", "recipe", "verify")
"""The parts of a page by their anchors."""

HOSTILE = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>{{ 7 * 7 }} $\\frac$ & "quoted"'
"""A name that would run if it were not escaped, fill a template, or break a picture's formula."""

PUBLIC_SHARE = "[evaluation]\npublic_share = 0.5\n"
HOLDOUTS = '[[holdouts]]\nname = "test"\nshare = 0.3\n[[holdouts]]\nname = "val"\nshare = 0.3\n'


def pa_rows(*, species: str = "{}", n: int = 24) -> list[str]:
    """Give rows of n surveys in a row of quadrats, three species each, with an elevation and a region."""
    rows = []
    for i in range(n):
        for kind in sorted({(i * k) % 5 for k in (1, 2, 3)}):
            where = f"p{i},{10 + 7 * i},{5 + 0.1 * i:.1f},45.0"
            rows.append(f"{where},{species.format(kind)},{100 * i},{'low' if i % 2 else 'high'}")
    return rows


def small(
    folder: Path,
    *,
    layout: str | None = None,
    po: bool = True,
    species: str = "{}",
    more: str = "",
    seed_env: str | None = None,
    column: str = "elevation",
    holdouts: str = HOLDOUTS,
) -> Path:
    """Build a small dataset; its survey tables carry an elevation and a region."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "pa.csv", f"patchID,dayOfYear,lon,lat,speciesId,{column},region", pa_rows(species=species))
    if po:
        records = [f"{i},{5 + 0.02 * i:.2f},45.0,{species.format(i % 5)},2021-0{1 + i % 9}-11" for i in range(120)]
        write_csv(folder / "po.csv", "glcID,lon,lat,speciesId,date", records)
    output = f'[output]\nlayout = "{layout}"\n' if layout else ""
    recipe = write_recipe(
        folder,
        po="po.csv" if po else None,
        holdouts=holdouts,
        more=f"{output}{more}",
        top=f'seed_env = "{seed_env}"' if seed_env else 'seed = "s"',
    )
    return build_dataset(recipe, folder / "dataset").folder


def in_layout(folder: Path, layout: str | None) -> Path:
    """Build a small dataset in the layout of a year."""
    if layout == "glc2022":
        folder.mkdir()
        rows = [f"{1000 + i},{5 + 0.2 * (i % 6):.1f},{45 + i / 1000},{i // 12}" for i in range(24)]
        write_csv(folder / "pa.csv", "observation_id,longitude,latitude,species_id", rows)
        more = (
            '[surveys]\nkeys = ["observation_id"]\n[output]\nlayout = "glc2022"\n[evaluation]\nmetric = "top_k_error"\n'
        )
        return build_dataset(write_recipe(folder, more=more, holdouts=HOLDOUTS), folder / "dataset").folder
    if layout == "glc2023":
        folder.mkdir()
        write_csv(folder / "pa.csv", "patchID,dayOfYear,lon,lat,speciesId,elevation,region", pa_rows())
        write_csv(folder / "po.csv", "glcID,lon,lat,speciesId", [f"{i},{5 + i / 50},45.1,{i % 5}" for i in range(120)])
        more = '[draw]\nremainder = "val"\n[output]\nlayout = "glc2023"\n'
        return build_dataset(write_recipe(folder, po="po.csv", more=more), folder / "dataset").folder
    return small(folder, layout=layout)


class Page(HTMLParser):
    """What stands on a page: its text by section, its elements, its tables.

    Attributes
    ----------
    tags : list of (tag, attributes)
    sections : dict of str to str
        The text of each section by its anchor.
    """

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, str] = {}
        self._section = ""
        self.text = ""
        self._silent = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag == "section":
            self._section = attributes.get("id") or "numbers"
        if tag in ("td", "th", "p", "li", "dt", "dd", "h1", "h2", "h3", "br", "figcaption", "caption"):
            self._add(" ")
        self._silent = tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._add(data)

    def _add(self, data: str) -> None:
        self.text += data
        self.sections[self._section] = self.sections.get(self._section, "") + data

    def said(self, section: str) -> str:
        """Give the text of a section with single blanks."""
        return " ".join(self.sections[section].split())


def map_data(text: str) -> dict[str, Any]:
    """Give what the map's script reads."""
    found = re.search(r'<script type="application/json" id="map-data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    content: dict[str, Any] = json.loads(found[1])
    return content


def everything_in(text: str) -> str:
    """Give a page's text with all that is packed in it: entities, percent signs, escapes of JSON, base64."""
    packed = re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", text)
    unpacked = [
        base64.b64decode(part + "=" * (-len(part) % 4), validate=False) for part in packed if len(part) % 4 != 1
    ]
    plain = [text, html.unescape(text), json.dumps(map_data(text), ensure_ascii=False)]
    return "\n".join([*plain, *(part.decode("latin-1") for part in unpacked)])
