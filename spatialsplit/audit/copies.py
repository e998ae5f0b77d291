"""Records of the test that stand elsewhere too: the same species, at the same place, on the same day.

Days are compared by `year` and `dayOfYear` where both tables have them, else by `date`; a table without a day
is compared by place and species alone.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd

from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.report import Finding, finding

_SAME = ("lon", "lat", "speciesId")


class HeldOutRecords:
    """The labelled records of the test, ready to be looked up by place.

    Parameters
    ----------
    evidence : Evidence
        With the truth of the test.
    """

    def __init__(self, evidence: Evidence):
        self.evidence = evidence

    @cached_property
    def records(self) -> pd.DataFrame:
        """A row a record, its columns ending in `_test`: from PA_test, or from blinded table and solution."""
        rows = self.evidence.all_rows()
        held = rows[(rows["role"] == "pa_test") & (rows["speciesId"] != "")]
        if not len(held):
            blind = rows[rows["role"] == "pa_test_blind"].drop(columns="speciesId")
            pairs = [(survey, name) for survey, species in self.evidence.truth.items() for name in sorted(species)]
            held = blind.merge(pd.DataFrame(pairs, columns=["survey", "speciesId"]), on="survey")
        held = held[held["lon"].notna() & held["lat"].notna()]
        held = held.assign(speciesId=held["speciesId"].astype(object))
        return held.rename(columns=lambda name: name if name in _SAME else f"{name}_test")

    @cached_property
    def longitudes(self) -> np.ndarray:
        """Where to look at all: most records stand at no longitude of the test."""
        return np.unique(self.records["lon"].to_numpy(dtype=float))

    def may_be_at(self, lon: np.ndarray) -> np.ndarray:
        """Tell quickly which records stand at a longitude of the test."""
        return np.isin(lon, self.longitudes)

    def copies(self, others: pd.DataFrame) -> pd.DataFrame:
        """Give the rows of `others` that repeat a test record, with the test's columns ending in `_test`."""
        there = self.may_be_at(others["lon"].to_numpy(dtype=float))
        near = others[there]
        pairs = near.assign(speciesId=near["speciesId"].astype(object)).merge(self.records, on=list(_SAME))
        pairs = pairs[pairs["speciesId"] != ""]
        return pairs[_same_day(pairs)].drop_duplicates("line").sort_values("line")


def _same_day(pairs: pd.DataFrame) -> np.ndarray:
    same = np.ones(len(pairs), dtype=bool)
    compared = np.zeros(len(pairs), dtype=bool)
    for word in ("year", "dayOfYear", "date"):
        if word not in pairs or f"{word}_test" not in pairs:
            continue
        ours, theirs = pairs[word].to_numpy(dtype=object), pairs[f"{word}_test"].to_numpy(dtype=object)
        both = (ours != "") & (theirs != "")
        if word == "date":
            both &= ~compared
        same &= ~(both & (ours != theirs))
        compared |= both
    return same


def copy_lines(pairs: pd.DataFrame, file: str) -> list[str]:
    """Say each copy in words."""
    columns = (pairs[name] for name in ("speciesId", "line", "survey_test", "lon", "lat"))
    return [
        f"species {species} in line {line} of {file} repeats test survey {survey} (lon {lon}, lat {lat})"
        for species, line, survey, lon, lat in zip(*columns, strict=True)
    ]


def no_duplicate_across_subsets(evidence: Evidence) -> Finding:
    """Look for test records that stand in train, in val or among the presence-only records too."""
    test = HeldOutRecords(evidence)
    rows = evidence.all_rows()
    other = (rows["subset"] != "test") & (rows["speciesId"] != "")
    near = rows[other & test.may_be_at(rows["lon"].to_numpy(dtype=float))]
    lines: list[str] = []
    for file, group in near.groupby("file", sort=True, observed=True):
        lines += copy_lines(test.copies(group), str(file))
    looked_at = f"{len(test.records)} test records against {int(other.sum())} of surveys"
    if not evidence.po:
        return finding(lines, looked_at)
    po = evidence.presence_only
    looked_at += f" and {po.n_rows} presence-only"
    return finding(lines, looked_at) + Finding(po.n_copies, po.copies, "")
