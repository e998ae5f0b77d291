"""Damaged tables, recipes, manifests and submissions, drawn at random, and what may come of them: a result or a line.

`test_hostile_input` draws a few hundred of them in every run. Many more by hand:

    SPATIALSPLIT_FUZZ=5000 python -m pytest tests/test_hostile_input.py -k random --hypothesis-seed=1
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from spatialsplit.errors import SpatialSplitError

EXAMPLES = int(os.environ.get("SPATIALSPLIT_FUZZ", "40"))

fuzzing = settings(
    deadline=None,
    max_examples=EXAMPLES,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)

fewer = settings(fuzzing, max_examples=max(EXAMPLES // 4, 1))
"""For what takes long."""

LONGEST_LINE = 3_000
"""No message is longer: somebody has to read it."""

NASTY = [
    *("", " ", "NA", "nan", "NaN", "inf", "-inf", "1e400", "1e-400", "1e5", "0x1F", "1_000", "1,5", "-0", "-0.0"),
    *("1.0", "1.5", "6310.0", "91", "-91", "181", "366", "367", "0", "-1", "9" * 19, "9" * 40, "-" + "9" * 40),
    *("true", "None", "2021-02-30", "0000-00-00", "9999-12-31", "10000-01-01", "2021-W05", "31/12/2021"),
    *("2021-01-01T00:00:00Z", "=1+1", "=cmd|'/c calc'!A0", "@SUM(1)", "+1", '"', '""', '"x', 'x"', "'", "\0"),
    *("a\nb", "a\rb", "\r", "\n", "a\r\nb", ";", "\t", "|", ",", "\\", "é", "e\u0301", "😀", "\u200b", "\ufeff"),
    *("\u2028", "\x85", "\x1a", "\u0663", "\uff11", "\u2212" + "5", "x" * 5_000, "../../etc/passwd", "${HOME}"),
    *("{0}", "%s", "<script>", "Abies alba"),
]  # fmt: skip
"""Cells that have broken somebody's reader."""

HEADERS = [
    *("patchID", "dayOfYear", "lon", "lat", "speciesId", "date", "year", "month", "geoUncertaintyInM", "surveyId"),
    *("longitude", "decimalLatitude", "species_id", "quadratId", "subset", "predictions", "Usage", "speciesName"),
    *("", " lon", "LON", "sp1", "x" * 300, "a\nb", '"', "é", "0", "lon"),
]  # fmt: skip

cells = st.one_of(st.sampled_from(NASTY), st.text(max_size=8), st.integers().map(str), st.floats().map(repr))


def may_be(attempt: Callable[[], object]) -> None:
    """Try something hostile: it may work, or end in lines that a person can read; nothing else."""
    problems: tuple[str, ...] = ("it worked",)
    try:
        attempt()
    except SpatialSplitError as error:
        problems = error.problems
    assert problems
    for line in problems:
        assert line.strip()
        assert "\n" not in line
        assert "\0" not in line
        assert len(line) < LONGEST_LINE


@st.composite
def rows_of(draw: st.DrawFn, columns: list[str], *, quadrats: int = 6) -> list[list[str]]:
    """Draw the rows of a table that is mostly sound, a few cells of it nasty."""
    rows = []
    for i in range(draw(st.integers(0, 9))):
        place = i % quadrats
        sound = {
            "patchID": f"p{place}",
            "dayOfYear": str(10 + place),
            "date": "2021-01-11",
            "year": "2021",
            "month": "1",
            "lon": f"{5 + 0.2 * place:.1f}",
            "lat": "45.0",
            "speciesId": str(1 + i % 2),
            "geoUncertaintyInM": "10",
            "longitude": f"{5 + 0.2 * place:.1f}",
            "decimalLatitude": "45",
            "species_id": str(1 + i % 2),
            "surveyId": str(place + 1),
            "predictions": "1 2",
        }
        rows.append([sound.get(name, "x") for name in columns])
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2, 5]))):
        if rows:
            row = draw(st.integers(0, len(rows) - 1))
            rows[row][draw(st.integers(0, len(columns) - 1))] = draw(cells)
    return rows


@st.composite
def columns(draw: st.DrawFn, usual: list[str]) -> list[str]:
    """Draw a header: the usual one, with a column gone, added, doubled or moved."""
    header = list(usual)
    for change in draw(st.lists(st.sampled_from(["drop", "add", "double", "shuffle"]), max_size=2)):
        if change == "drop" and len(header) > 1:
            del header[draw(st.integers(0, len(header) - 1))]
        elif change == "add":
            header.insert(draw(st.integers(0, len(header))), draw(st.sampled_from(HEADERS)))
        elif change == "double":
            header.append(draw(st.sampled_from(header)))
        else:
            header = draw(st.permutations(header))
    return header


@st.composite
def csv_bytes(draw: st.DrawFn, usual: list[str]) -> bytes:
    """Draw a text table: quoted or not, in some encoding, damaged here and there, perhaps compressed."""
    header = draw(columns(usual))
    separator = draw(st.sampled_from([",", ",", ",", ";", "\t", "|"]))
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n"]))
    quoted = draw(st.booleans())
    rows = [header, *draw(rows_of(header))]

    def written(cell: str) -> str:
        special = any(mark in cell for mark in (separator, '"', "\n", "\r"))
        return '"' + cell.replace('"', '""') + '"' if quoted and special else cell

    text = end.join(separator.join(map(written, row)) for row in rows) + draw(st.sampled_from([end, "", '"']))
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252"]))
    content = draw(damaged(text.encode(encoding, errors="replace")))
    return draw(damaged(gzip.compress(content, mtime=0))) if draw(st.integers(0, 9)) == 0 else content


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Draw a file with a part cut out, put in, doubled or changed."""
    for change in draw(st.lists(st.sampled_from(["cut", "put", "double", "flip", "end"]), max_size=2)):
        start = draw(st.integers(0, max(len(content) - 1, 0)))
        stop = min(len(content), start + draw(st.integers(1, 40)))
        if change == "cut":
            content = content[:start] + content[stop:]
        elif change == "put":
            content = content[:start] + draw(st.binary(max_size=20)) + content[start:]
        elif change == "double":
            content = content[:stop] + content[start:]
        elif change == "flip" and content:
            content = content[:start] + bytes([content[start] ^ (1 << draw(st.integers(0, 7)))]) + content[start + 1 :]
        else:
            content = content[:start]
    return content


@st.composite
def parquet_bytes(draw: st.DrawFn, usual: list[str]) -> bytes:
    """Draw a Parquet table whose columns have types that were not expected."""
    header = list(dict.fromkeys(draw(columns(usual))))
    rows = draw(rows_of(header))
    arrays = [_typed([row[i] for row in rows], draw(st.sampled_from(_TYPES))) for i in range(len(header))]
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(dict(zip(header, arrays, strict=True))), sink)
    return sink.getvalue()


_TYPES: list[pa.DataType] = [
    *(pa.string(), pa.string(), pa.string(), pa.float64(), pa.float64(), pa.int64(), pa.int8(), pa.uint64()),
    *(pa.float32(), pa.bool_(), pa.date32(), pa.timestamp("ns"), pa.binary(), pa.null(), pa.large_string()),
    *(pa.decimal128(20, 3), pa.list_(pa.int64()), pa.dictionary(pa.int32(), pa.string()), pa.time32("s")),
    pa.struct([("a", pa.int64())]),
]  # fmt: skip


def _typed(texts: list[str], kind: pa.DataType) -> pa.Array:
    """Give texts as cells of a type, missing where they cannot be."""
    cells: list[Any] = []
    for text in texts:
        try:
            cells.append(pa.array([text]).cast(kind)[0].as_py())
        except (pa.ArrowException, ValueError, OverflowError):
            cells.append(None)
    try:
        return pa.array(cells, kind)
    except (pa.ArrowException, ValueError, OverflowError, TypeError):
        return pa.nulls(len(texts), kind)


PA_COLUMNS = ["patchID", "dayOfYear", "lon", "lat", "speciesId"]
PO_COLUMNS = ["lon", "lat", "speciesId", "date", "geoUncertaintyInM"]

pa_tables = st.one_of(csv_bytes(PA_COLUMNS), csv_bytes(PA_COLUMNS), parquet_bytes(PA_COLUMNS))
po_tables = st.one_of(csv_bytes(PO_COLUMNS), csv_bytes(PO_COLUMNS), parquet_bytes(PO_COLUMNS))
submissions = st.one_of(csv_bytes(["surveyId", "predictions"]), csv_bytes(["surveyId", "predictions", "Usage"]))

RECIPE = """name = "t"
seed = "s"
[inputs.pa]
path = "pa.csv"
[inputs.po]
path = "po.csv"
[[holdouts]]
name = "test"
share = 0.5
"""

values = st.one_of(
    st.sampled_from(
        [
            '""',
            '"x"',
            '"test"',
            '"val"',
            '"train"',
            '"a|b"',
            "0",
            "1",
            "-1",
            "0.5",
            "nan",
            "inf",
            "1e400",
            "true",
            "[]",
            "{}",
        ]
    ),
    st.sampled_from(
        ['["test"]', '["val", "val"]', '["speciesId"]', '"EPSG:3035"', '"EPSG:4326"', '"EPSG:99999"', "5000"]
    ),
    st.sampled_from(
        ['"wide"', '"glc2022"', '"glc2023"', '"surveys"', '"threshold"', '"first"', '"drop"', "1979-05-27"]
    ),
    st.integers().map(str),
    st.text(max_size=6).map(lambda text: json.dumps(text)),
)
KEYS: dict[str, list[str]] = {
    "": ["name", "seed", "seed_env", "nonsense", "holdouts", "inputs"],
    "inputs.pa": ["layout", "species_columns", "crs", "separator", "encoding", "drop", "columns", "path", "x"],
    "inputs.po": ["crs", "separator", "encoding", "drop", "columns", "layout"],
    "surveys": ["keys", "coordinates"],
    "quadrats": ["grid", "crs", "size_m", "origin"],
    "draw": ["method", "share_of", "strata", "attempts", "quadrats", "extend", "remainder"],
    "po_filter": ["radius_m", "around", "uncertainty_column", "whole_quadrats", "min_records", "max_records"],
    "evaluation": ["metric", "options", "public_share"],
    "output": ["formats", "layout", "coordinate_decimals", "blind_columns"],
    "about": ["title", "license", "creators"],
}


@st.composite
def recipes(draw: st.DrawFn) -> bytes:
    """Draw a recipe: sound keys with sound and unsound values, some text of it damaged."""
    text = RECIPE if draw(st.booleans()) else RECIPE.replace('[inputs.po]\npath = "po.csv"\n', "")
    for section in draw(st.lists(st.sampled_from(sorted(KEYS)), max_size=2, unique=True)):
        keys = draw(st.lists(st.sampled_from(KEYS[section]), min_size=1, max_size=2, unique=True))
        lines = "".join(f"{key} = {draw(values)}\n" for key in keys)
        if f"[{section}]\n" in text:
            text = text.replace(f"[{section}]\n", f"[{section}]\n{lines}")
        else:
            text = f"{text}[{section}]\n{lines}" if section else lines + text
    content = text.encode()
    return draw(damaged(content)) if draw(st.integers(0, 3)) == 0 else content


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.sampled_from(["../x", "/etc/passwd"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=4,
)


@st.composite
def changed_json(draw: st.DrawFn, content: Any) -> Any:
    """Draw a copy of a JSON value of which a part, somewhere, is gone or something else."""
    if isinstance(content, dict) and content and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(content)))
        change = draw(st.sampled_from(["inside", "inside", "inside", "drop", "rename"]))
        rest = {name: value for name, value in content.items() if name != key}
        if change == "drop":
            return rest
        if change == "rename":
            return {
                **rest,
                draw(st.sampled_from(["../../x.csv", "/etc/passwd", "", "public/none.csv", "x"])): content[key],
            }
        return {**content, key: draw(changed_json(content[key]))}
    if isinstance(content, list) and content and draw(st.integers(0, 9)):
        i = draw(st.integers(0, len(content) - 1))
        return [*content[:i], draw(changed_json(content[i])), *content[i + 1 :]]
    return draw(json_values)
