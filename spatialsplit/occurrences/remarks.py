"""What is said of rows that look odd and are used as they are."""

from __future__ import annotations

from spatialsplit.occurrences.faults import WHAT

WARNINGS = {
    "zero_zero": "{n} rows of {where} lie at longitude 0, latitude 0. Such coordinates are often missing ones.",
    "date_not_iso": "{n} dates of {where} are no ISO day (2021-05-31) and were not compared with dayOfYear.",
    "date_no_single_day": ("{n} dates of {where} are a month, a year or a range of days, and tell no dayOfYear."),
    "absent_used": (
        '{n} rows of {where} say that the species was absent, and are used as if it was there. Say absent = "drop" '
        'under [clean], or drop = ["absent"] under the input.'
    ),
    "uncertainty_over_radius": "{n} rows of {where} have a geoUncertaintyInM larger than the radius of the filter.",
    "uncertainty_over_quadrat": "{n} rows of {where} have a geoUncertaintyInM larger than a quadrat.",
    "exact_duplicates": "{n} rows of {where} repeat another row in every cell.",
    "surveys_in_two_files": (
        "{n} surveys of {where} stand in more than one file. Two releases may give one id to different surveys: make "
        "sure that they are the same."
    ),
    "swapped_axes": (
        "{n} rows of {where} lie outside the area of use of the grid's CRS but would lie inside with longitude and "
        "latitude exchanged. Check the columns."
    ),
}
"""For each suspicion, what is said of it."""


def warning_of(name: str) -> str:
    """Give what is said of a suspicion, or of a reason whose rows are only flagged."""
    if name in WARNINGS:
        return WARNINGS[name]
    return f"{{n}} rows of {{where}} are flagged and used: {WHAT[name][0].lower()} ({name})."
