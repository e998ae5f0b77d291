"""Tables on disk: read in batches, text for text, and written byte-equal everywhere.

What a table's columns mean stands in `columns`, what is wrong with its rows in `occurrences`; here a table is a header
and cells.
"""

from spatialsplit.tables.files import Dialect
from spatialsplit.tables.holding import held
from spatialsplit.tables.reading import Batch, Piece, TableInput, read_table
from spatialsplit.tables.writing import OutputColumn, TableWriter, Written, open_writer, write_table

__all__ = [
    "Batch",
    "Dialect",
    "OutputColumn",
    "Piece",
    "TableInput",
    "TableWriter",
    "Written",
    "held",
    "open_writer",
    "read_table",
    "write_table",
]
