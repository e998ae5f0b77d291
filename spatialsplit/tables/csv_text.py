"""Cells → the bytes of CSV lines, the same whatever library prints numbers and on every version of Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from spatialsplit.errors import DataError, shown


def header_line(names: Sequence[str], separator: str) -> str:
    """Give the header of a CSV, with its line break."""
    return bytes(csv_bytes([pa.array([name], pa.string()) for name in names], separator)).decode()


def as_text(array: pa.Array, decimals: int | None = None) -> pa.StringArray:
    """Give the cells as CSV shows them; a missing cell is empty.

    Examples
    --------
    >>> as_text(pa.array([1.5, None, -1e-7]), decimals=6).to_pylist()
    ['1.500000', '', '0.000000']
    """
    if decimals is not None and pa.types.is_floating(array.type):
        array = _decimal(array, decimals)
    if not pa.types.is_string(array.type):
        array = cast_to_text(array)
    return array.fill_null("") if array.null_count else array


def cast_to_text(array: pa.Array) -> pa.StringArray:
    """Give cells of any type as text, missing ones missing.

    Raises
    ------
    DataError
        They are lists, structures, or bytes that are no text.
    """
    try:
        return array.cast(pa.string())
    except pa.ArrowException:
        raise DataError(
            f"A column has cells of the type {shown(array.type)}, which no CSV can hold. A table has one value a cell. "
            "Write it again without that column, or with its values as text."
        ) from None


def rounded(array: pa.Array, decimals: int | None) -> pa.Array:
    """Round as numpy.round does, so that every form of a table holds the value that its CSV shows: no −0, no NaN."""
    if decimals is None or array.type != pa.float64():
        return array
    values = array.to_numpy(zero_copy_only=False)  # a missing cell is NaN here
    return pa.array(np.round(values, decimals) + 0.0, from_pandas=True)


def _decimal(array: pa.Array, decimals: int) -> pa.Array:
    """Turn doubles into decimals by whole numbers: `rint(x * 10^d)`, as numpy.round does; NaN is a missing cell."""
    array = pa.array(array.to_numpy(zero_copy_only=False), from_pandas=True)
    present = array.is_valid()
    scaled = np.rint(array.fill_null(0).to_numpy(zero_copy_only=False) * 10.0**decimals).astype("<i8")
    words = np.empty((len(scaled), 2), dtype="<i8")
    words[:, 0], words[:, 1] = scaled, scaled >> 63
    whole = pa.Array.from_buffers(pa.decimal128(18, decimals), len(scaled), [None, pa.py_buffer(words)])
    return pc.if_else(present, whole, None) if array.null_count else whole


def csv_bytes(texts: Sequence[pa.StringArray], separator: str) -> memoryview | bytes:
    """Join cells to CSV lines.

    Arrow's writer is asked to quote nothing and refuses a cell that needs it; only then the columns are looked at.
    """
    if not texts or not len(texts[0]):
        return b""
    if len(texts) > 1:
        try:
            return _unquoted(texts, separator)
        except pa.ArrowInvalid:
            pass
    return _join([_quote(column, separator, alone=len(texts) == 1) for column in texts], separator)


def _unquoted(texts: Sequence[pa.StringArray], separator: str) -> memoryview:
    rows = pa.RecordBatch.from_arrays(list(texts), names=[str(i) for i in range(len(texts))])
    options = pyarrow.csv.WriteOptions(
        include_header=False, batch_size=len(rows), delimiter=separator, quoting_style="none"
    )
    out = pa.BufferOutputStream()
    pyarrow.csv.write_csv(rows, out, options)
    return memoryview(out.getvalue())


def _join(texts: Sequence[pa.StringArray], separator: str) -> bytes:
    rows = pc.binary_join_element_wise(*texts, separator) if len(texts) > 1 else texts[0]
    one = pa.ListArray.from_arrays(pa.array([0, len(rows)], pa.int32()), rows)
    lines: bytes = pc.binary_join(one, "\n")[0].as_buffer().to_pybytes()
    return lines + b"\n"


def _quote(column: pa.StringArray, separator: str, *, alone: bool) -> pa.StringArray:
    """Quote the cells that need it; an empty cell does where it is alone, or its line would be a blank one."""
    special = pc.match_substring_regex(column, f'[{separator}"\r\n]')
    if alone:
        special = pc.or_(special, pc.equal(column, ""))
    if not pc.any(special).as_py():
        return column
    doubled = pc.replace_substring(column, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), column)
