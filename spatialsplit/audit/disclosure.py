"""Whether a public file tells the species of test surveys, whatever its form: a table, JSON, or any other text.

In a table a survey may be named by its id, by its keys or by its place, and its species may stand a row each, in a
list, or a column each. In other text an id and the species must stand in one line, or in one object or pair of JSON.
Each is judged by rule 2 of `giveaway.py`: far more species of its own survey than chance gives.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.giveaway import Labels
from spatialsplit.audit.subsets import ids_text
from spatialsplit.audit.tables import Table
from spatialsplit.audit.unpacking import check_unpacked_size, open_bytes

TEXT_BYTES = 16 << 20
"""How much of a text that is no table is looked at."""

_TOKEN = re.compile(r"""[^\s,;|:"'`\[\]{}()<>=]+""")
_ABSENT = {"", "0", "false", "no", "na", "nan", "none", "null"}
_DECIMALS = 5


class Disclosure:
    """The test surveys and their species, ready to be looked for in any file.

    Parameters
    ----------
    evidence : Evidence
        With the truth of the test.
    """

    def __init__(self, evidence: Evidence):
        self.evidence = evidence
        self.by_id = Labels(evidence.truth, frozenset(), evidence.places)

    @cached_property
    def _tests(self) -> pd.DataFrame:
        places = self.evidence.surveys_of("test")
        return places[places["survey"].isin(list(self.by_id.truth))]

    @cached_property
    def by_key(self) -> Labels:
        """The same by the joined survey keys."""
        return self._under(self._tests["key"])

    @cached_property
    def by_place(self) -> Labels:
        """The same by the coordinate."""
        return self._under(_place_texts(self._tests["lon"], self._tests["lat"]))

    def _under(self, names: pd.Series) -> Labels:
        truth: dict[str, frozenset[str]] = {}
        for name, survey in zip(names, self._tests["survey"], strict=True):
            if name:
                truth[name] = truth.get(name, frozenset()) | self.by_id.truth[survey]
        return Labels(truth, frozenset(), self._tests)

    def in_table(self, table: Table) -> Iterator[str]:
        """Say which column of a table names test surveys beside one that tells their species."""
        cells = table.read_all()
        for ids, labels, taken in self._naming(table, cells):
            held = ids.isin(list(labels.truth))
            if not held.any():
                continue
            others = {repr(name): cells.loc[held, name] for name in table.header if name not in taken}
            wide = _columns_of_species(cells[held].drop(columns=list(taken)), labels)
            if wide is not None:
                others["a column a species"] = wide
            for name, told in others.items():
                if labels.hold(ids[held], told):
                    yield f"holds test surveys ({ids_text(set(ids[held]))}) with their species in {name}"
                    return

    def _naming(self, table: Table, cells: pd.DataFrame) -> Iterator[tuple[pd.Series, Labels, tuple[str, ...]]]:
        """Give each way in which the rows may name a survey, with the columns that it takes."""
        for name in table.header:
            yield cells[name], self.by_id, (name,)
        keys = self.evidence.promise.keys
        if keys and set(keys) <= set(table.header):
            yield cells[list(keys)].agg("|".join, axis=1), self.by_key, keys
        if table.has("lon", "lat"):
            lon, lat = table.means["lon"], table.means["lat"]
            numbers = [pd.to_numeric(cells[name], errors="coerce") for name in (lon, lat)]
            yield _place_texts(*numbers), self.by_place, (lon, lat)

    def in_text(self, path: Path) -> Iterator[str]:
        """Say whether lines of a text, or objects of JSON, name test surveys together with their species."""
        for lines in _forms(_text_of(path)):
            rows = [tokens for tokens in map(_TOKEN.findall, lines) if len(tokens) > 1]
            for order in (1, -1):  # the id may stand before its species or behind them
                pairs = [pair for pair in (self._named(tokens[::order]) for tokens in rows) if pair]
                ids = pd.Series([survey for survey, _ in pairs], dtype=object)
                if self.by_id.hold(ids, pd.Series([cell for _, cell in pairs], dtype=object)):
                    yield f"holds test surveys ({ids_text(set(ids))}) with their species"
                    return

    def _named(self, tokens: Sequence[str]) -> tuple[str, str] | None:
        at = next((i for i, token in enumerate(tokens) if token in self.by_id.truth), None)
        return None if at is None else (tokens[at], " ".join((*tokens[:at], *tokens[at + 1 :])))


def _place_texts(lon: pd.Series, lat: pd.Series) -> pd.Series:
    """Name places by their coordinate, about a metre wide; a place that is none has no name."""
    places = zip(np.asarray(lon, dtype=float), np.asarray(lat, dtype=float), strict=True)
    texts = [f"{x:.{_DECIMALS}f} {y:.{_DECIMALS}f}" if np.isfinite([x, y]).all() else "" for x, y in places]
    return pd.Series(texts, index=lon.index, dtype=object)


def _columns_of_species(cells: pd.DataFrame, labels: Labels) -> pd.Series | None:
    """Give, where columns are named like species, the list of those that a row marks."""
    species = [name for name in cells if name in labels.frequency]
    if len(species) < 2:
        return None
    marked = ~cells[species].apply(lambda column: column.str.casefold().isin(_ABSENT)).to_numpy(dtype=bool)
    names = np.array(species, dtype=object)
    return pd.Series([" ".join(names[row]) for row in marked], index=cells.index, dtype=object)


def _text_of(path: Path) -> str:
    """Read the beginning of a text, packed or not; what is no text gives none."""
    try:
        check_unpacked_size(path)
        with open_bytes(path) as stream:
            start = stream.read(TEXT_BYTES)
    except (OSError, EOFError, ValueError):
        return ""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return str(start.decode("utf-16", errors="replace"))
    return "" if b"\0" in start[:8192] else str(start.decode("utf-8", errors="replace"))


def _forms(text: str) -> Iterator[list[str]]:
    """Give the lines of a text, and where it is JSON what stands together there as lines, each way for itself."""
    yield text.splitlines()
    if text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        try:
            parts = list(_parts_of_json(json.loads(text.lstrip("\ufeff"))))
        except (ValueError, RecursionError):
            return
        mappings = [part for part in parts if isinstance(part, Mapping)]
        yield [line for part in parts if isinstance(part, str) for line in part.splitlines()]
        yield [
            _flat(part.values() if isinstance(part, Mapping) else part) for part in parts if not isinstance(part, str)
        ]
        yield [f"{key} {_flat([value])}" for part in mappings for key, value in part.items()]
        yield [line for part in mappings for line in _rows_of_columns(part.values())]


def _parts_of_json(whole: Any) -> Iterator[str | Mapping[str, Any] | list[Any]]:
    """Give every text, object and list, however deep."""
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str | Mapping | list):
            yield part
        if isinstance(part, Mapping | list):
            waiting.extend(part.values() if isinstance(part, Mapping) else part)


def _rows_of_columns(columns: Any) -> Iterator[str]:
    """Read an object of equally long columns row by row, as tables are often written."""
    lists = [list(part.values()) if isinstance(part, Mapping) else part for part in columns]
    lists = [part for part in lists if isinstance(part, list)]
    if len(lists) > 1 and len({len(part) for part in lists}) == 1:
        yield from (_flat(row) for row in zip(*lists, strict=True))


def _flat(values: Any) -> str:
    """Write scalars, and those of lists among them, in one line."""
    line = io.StringIO()
    for value in values:
        for cell in value if isinstance(value, list) else [value]:
            if isinstance(cell, str | int | float):
                line.write(f" {cell}")
    return line.getvalue().replace("\n", " ")
