"""Record tables: find the columns, read the places, check every row.

A row is fine or it has a reason with a name; it is never repaired. What becomes of the rows stands in `surveys` and
`po_filter`.
"""

from spatialsplit.occurrences.cells import SpeciesReader
from spatialsplit.occurrences.cleaning import REPEATING, Cleaning, Limits
from spatialsplit.occurrences.dates import DateRules
from spatialsplit.occurrences.faults import CLEANABLE, DROPPABLE, REASONS, Faults
from spatialsplit.occurrences.presence_absence import PresenceAbsence, WideColumns, read_presence_absence
from spatialsplit.occurrences.reading import CheckedBatch, RecordReader, RecordRules

__all__ = [
    "CLEANABLE",
    "DROPPABLE",
    "REASONS",
    "REPEATING",
    "CheckedBatch",
    "Cleaning",
    "DateRules",
    "Faults",
    "Limits",
    "PresenceAbsence",
    "RecordReader",
    "RecordRules",
    "SpeciesReader",
    "WideColumns",
    "read_presence_absence",
]
