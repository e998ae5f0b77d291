"""One number for what a table says, equal for its CSV and its Parquet form.

A cell counts by its logical type, so neither the writer's version nor the file's form shows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


class ContentDigest:
    """The SHA-256 of a table's content, fed batch by batch; how the rows are cut into batches does not show.

    Parameters
    ----------
    columns : sequence of (name, type)
        The types are 'integer', 'number' and 'text'.

    Examples
    --------
    >>> as_text, as_numbers = (ContentDigest([("n", "integer")]) for _ in range(2))
    >>> as_text.update([pa.array(["7", ""])])
    >>> as_numbers.update([pa.array([7, None])])
    >>> as_text.hexdigest() == as_numbers.hexdigest()
    True
    """

    def __init__(self, columns: Sequence[tuple[str, str]]):
        self._columns = [(name, kind, _HASHES[kind]()) for name, kind in columns]

    def update(self, cells: Sequence[pa.Array]) -> None:
        """Add the rows of a batch, one array a column; text is parsed where the column holds numbers.

        Raises
        ------
        pyarrow.ArrowInvalid
            A cell is not of the column's type.
        """
        for (_, _, column), array in zip(self._columns, cells, strict=True):
            column.update(array)

    def hexdigest(self) -> str:
        """Give the digest of all rows so far."""
        lines = [f"{name}\n{kind}\n{column.hexdigest()}\n" for name, kind, column in self._columns]
        return hashlib.sha256("".join(lines).encode()).hexdigest()


class _Cells(Protocol):
    """What is known of one column's cells so far."""

    def __init__(self) -> None: ...

    def update(self, array: pa.Array) -> None:
        """Add some cells."""

    def hexdigest(self) -> str:
        """Give the digest of all cells so far."""


class _Numbers(_Cells):
    """Cells of a fixed width: their bytes, and a byte a cell for whether there is a value."""

    kind: pa.DataType

    def __init__(self) -> None:
        self._values, self._present = hashlib.sha256(), hashlib.sha256()

    def update(self, array: pa.Array) -> None:
        """Add some cells."""
        if pa.types.is_string(array.type):
            array = pc.if_else(pc.equal(array, ""), None, array)
        elif pa.types.is_floating(array.type) and array.type != pa.float64():
            array = array.cast(pa.string())  # a short float counts as the number that its shortest text is, as in CSV
        array = array.cast(self.kind)
        present = array.is_valid().to_numpy(zero_copy_only=False)
        values = self._values_of(array.fill_null(0).to_numpy(zero_copy_only=False))
        self._values.update(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"), copy=False).tobytes())
        self._present.update(present.astype(np.uint8).tobytes())

    def _values_of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values

    def hexdigest(self) -> str:
        """Give the digest of all cells so far."""
        return hashlib.sha256(self._values.digest() + self._present.digest()).hexdigest()


class _Integers(_Numbers):
    kind = pa.int64()


class _Doubles(_Numbers):
    kind = pa.float64()

    def _values_of(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.where(np.isnan(values), np.nan, values)  # there is more than one way to write NaN in bits


class _Text(_Cells):
    """Cells of text: their bytes, and their lengths; a missing cell is an empty one, as in CSV."""

    def __init__(self) -> None:
        self._bytes, self._lengths = hashlib.sha256(), hashlib.sha256()

    def update(self, array: pa.Array) -> None:
        """Add some cells."""
        text = array.cast(pa.string()).fill_null("")
        if not len(text):
            return
        offsets = np.frombuffer(text.buffers()[1], dtype=np.int32)[text.offset : text.offset + len(text) + 1]
        self._lengths.update(np.diff(offsets).astype("<u4").tobytes())
        if offsets[-1] > offsets[0]:
            self._bytes.update(memoryview(text.buffers()[2])[offsets[0] : offsets[-1]])

    def hexdigest(self) -> str:
        """Give the digest of all cells so far."""
        return hashlib.sha256(self._bytes.digest() + self._lengths.digest()).hexdigest()


_HASHES: dict[str, type[_Cells]] = {"integer": _Integers, "number": _Doubles, "text": _Text}


def logical_type(kind: pa.DataType) -> str:
    """Name the logical type under which the cells of an Arrow type count.

    Examples
    --------
    >>> logical_type(pa.int32()), logical_type(pa.float32()), logical_type(pa.date32())
    ('integer', 'number', 'text')
    """
    if pa.types.is_integer(kind) and kind != pa.uint64():  # which holds numbers that no other integer can
        return "integer"
    return "number" if pa.types.is_floating(kind) else "text"
