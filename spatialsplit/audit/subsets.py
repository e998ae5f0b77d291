"""The checks that nothing crosses the line between subsets: surveys, quadrats, species, Usage."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.report import CannotRun, Finding, finding

_BATCH = 1 << 19
_NAMING = ("subset", "survey", "key", "line", "file")


def surveys_in_one_subset(evidence: Evidence) -> Finding:
    """Look for surveys in two subsets, by `surveyId` and by the keys, and for surveys at two places."""
    rows = evidence.all_rows()
    named = [word for word in ("survey", "key") if (rows[word] != "").any()]
    if not named:
        raise CannotRun("no table has survey ids or survey keys")
    problems = [line for word in named for line in _in_two_subsets(rows, word, evidence.numbers[word])]
    if evidence.published is not None:
        problems += _at_two_places(evidence.places)
    n_surveys = len(np.unique(evidence.numbers[named[0]][(rows[named[0]] != "").to_numpy(dtype=bool)]))
    return finding(problems, f"{n_surveys} surveys")


def _in_two_subsets(rows: pd.DataFrame, word: str, numbers: np.ndarray) -> list[str]:
    stands = rows[["subset"]].assign(number=numbers)[rows[word] != ""].drop_duplicates()
    twice = rows.loc[stands.index[stands.duplicated("number", keep=False)], list(_NAMING)]
    twice = twice.sort_values([word, "subset"], kind="stable")
    called = "survey" if word == "survey" else "the survey with the keys"
    return [
        f"{called} {name} is in {_places_in_files(group)}"
        for name, group in twice.groupby(word, sort=False)
        if word == "survey" or group["survey"].nunique() > 1 or not group["survey"].iloc[0]
    ]


def _places_in_files(group: pd.DataFrame) -> str:
    stands = zip(group["subset"], group["line"], group["file"], strict=True)
    return " and ".join(f"{subset} (line {line} of {file})" for subset, line, file in stands)


def _at_two_places(places: pd.DataFrame) -> list[str]:
    named = places[places["survey"] != ""].drop_duplicates(["subset", "survey", "lon", "lat"])
    moved = named[named.duplicated(["subset", "survey"], keep=False)].sort_values(["survey", "line"], kind="stable")
    return [
        f"survey {survey} is at two places: {_places_in_files(group)}"
        for (_, survey), group in moved.groupby(["subset", "survey"], sort=False, observed=True)
    ]


def quadrats_in_one_subset(evidence: Evidence) -> Finding:
    """Look for quadrats with surveys of two subsets, or of another subset than quadrats.csv says."""
    evidence.all_rows()
    stands = _stands(evidence)
    if stands["subset"].nunique() < 2:
        raise CannotRun("there are no two subsets to compare")
    shared = _shared(stands)
    by_quadrat = shared.groupby("quadrat", sort=False, observed=True)
    problems = [f"quadrat {label} holds {_surveys_in_files(group)}" for label, group in by_quadrat]
    if evidence.published is not None:
        problems += _nowhere(evidence)
    listed = _listed(evidence)
    if listed is not None:
        problems += _not_as_listed(stands, listed, known=set(shared["quadrat"]))
    return finding(problems, f"{stands['quadrat'].nunique()} quadrats of {evidence.grid.name}")


def _stands(evidence: Evidence) -> pd.DataFrame:
    """Give the places that have a quadrat, with it."""
    stands = evidence.places_on_grid()
    lost = stands["quadrat"] == ""
    return stands[~lost] if lost.any() else stands


def _nowhere(evidence: Evidence) -> list[str]:
    """Name the surveys that no quadrat can be given to: what is nowhere cannot be shown to be in one subset."""
    lost = evidence.places[evidence.quadrat_of_places == ""]
    return [
        f"{subset} survey {survey or key} (line {line} of {file}) has no place on the grid"
        for subset, survey, key, line, file in zip(*(lost[name] for name in _NAMING), strict=True)
    ]


def _shared(stands: pd.DataFrame) -> pd.DataFrame:
    """Give the quadrats of two subsets or more: a row a quadrat and subset, with the first survey."""
    different = stands[~stands.duplicated(["quadrat", "subset"])]
    shared = different[different.duplicated("quadrat", keep=False)]
    return shared.sort_values(["quadrat", "subset"], kind="stable")


def _surveys_in_files(group: pd.DataFrame) -> str:
    stands = zip(*(group[name] for name in _NAMING), strict=True)
    return " and ".join(
        f"{subset} {_called(survey, key)} (line {line} of {file})" for subset, survey, key, line, file in stands
    )


def _called(survey: str, key: str) -> str:
    """Name a survey by its id or its keys; a table without either has records only."""
    return f"survey {survey or key}" if survey or key else "record"


def _listed(evidence: Evidence) -> pd.DataFrame | None:
    if evidence.published is None or "quadrats" not in evidence.published.roles.values():
        return None
    listed = evidence.published.table("quadrats").read("quadratId", "subset")
    return listed if {"quadratId", "subset"} <= set(listed) else None


def _not_as_listed(stands: pd.DataFrame, listed: pd.DataFrame, *, known: set[str]) -> list[str]:
    twice = listed[listed.duplicated("quadratId", keep="first")]["quadratId"]
    problems = [f"quadrat {label} is listed twice in quadrats.csv" for label in twice]
    said = listed.drop_duplicates("quadratId").set_index("quadratId")["subset"]
    first = stands[~stands.duplicated("quadrat") & ~stands["quadrat"].isin(list(known))]
    first = first.assign(quadrat=first["quadrat"].astype(object)).sort_values("quadrat")
    first = first[first["quadrat"].map(said).fillna("") != first["subset"]]
    for label, group in first.groupby("quadrat", sort=True):
        subset = said.get(label)
        if subset is None:
            problems.append(f"quadrat {label} holds {_surveys_in_files(group)} but is not in quadrats.csv")
        else:
            problems.append(f"quadrat {label} is {subset} in quadrats.csv but holds {_surveys_in_files(group)}")
    return problems


def test_species_known(evidence: Evidence) -> Finding:
    """Look for species of the test that no published train or val record has."""
    rows = evidence.all_rows()
    truth = evidence.truth
    known = set(rows.loc[rows["subset"] != "test", "speciesId"].unique())
    if evidence.po:
        known |= set(evidence.presence_only.species)
    held: dict[str, str] = {}
    for survey in sorted(truth, key=_by_number):
        for species in truth[survey]:
            held.setdefault(species, survey)
    unknown = sorted(set(held) - known, key=_by_number)
    lines = [f"species {name} of test survey {held[name]} is in no train or val record" for name in unknown]
    return finding(lines, f"{len(held)} test species, {len(known - {''})} known ones")


test_species_known.__test__ = False  # type: ignore[attr-defined]  # a check of that name, not a test of ours


def _by_number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() and len(text) < 19 else 1 << 62, text)


def no_empty_test_survey(evidence: Evidence) -> Finding:
    """Look for test surveys without a species."""
    rows = evidence.all_rows()
    truth = evidence.truth
    tests = rows[rows["subset"] == "test"].drop_duplicates("survey")
    if not len(tests):
        raise CannotRun("there is no test survey")
    empty = tests[~tests["survey"].isin(list(truth))]
    lines = [
        f"test survey {survey} (line {line} of {file}) has no species"
        for survey, line, file in zip(empty["survey"], empty["line"], empty["file"], strict=True)
    ]
    return finding(lines, f"{len(tests)} test surveys")


def usage_shares_no_quadrat(evidence: Evidence) -> Finding:
    """Look for quadrats with Public and Private test surveys."""
    usage = usage_of_quadrats(evidence)
    shared = usage[usage.duplicated("quadrat", keep=False)].groupby("quadrat", sort=True, observed=True)
    lines = [f"quadrat {label} holds {_usages(group)}" for label, group in shared]
    return finding(lines, f"{usage['quadrat'].nunique()} test quadrats")


def _usages(group: pd.DataFrame) -> str:
    return " and ".join(
        f"{usage} survey {survey}" for usage, survey in zip(group["Usage"], group["survey"], strict=True)
    )


def usage_of_quadrats(evidence: Evidence) -> pd.DataFrame:
    """Give each test quadrat with its Usage: `quadrat, Usage, survey` (the first), a row a different pair."""
    solution = evidence.dataset.table("solution")
    if not solution.has("surveyId", "Usage"):
        raise CannotRun(f"{solution.name} has no Usage")
    evidence.all_rows()
    usage = solution.read("surveyId", "Usage").rename(columns={"surveyId": "survey"})
    stands = _stands(evidence)
    tests = stands[stands["subset"] == "test"].drop_duplicates(["survey", "quadrat"])
    return tests.merge(usage, on="survey")[["quadrat", "Usage", "survey"]].drop_duplicates(["quadrat", "Usage"])


def species_of_quadrats(evidence: Evidence) -> dict[str, set[str]]:
    """Give the species of each quadrat, over all subsets."""
    rows = evidence.all_rows()
    if not (rows["role"] == "pa_test").any():
        raise CannotRun("there is no private/ with the test surveys")
    seen = rows.loc[rows["speciesId"] != "", ["lon", "lat", "speciesId"]]
    labels, codes = evidence.grid.coded_labels(seen["lon"].to_numpy(), seen["lat"].to_numpy())
    different = pd.DataFrame({"quadrat": codes, "species": seen["speciesId"].to_numpy()}).drop_duplicates()
    species_of: dict[str, set[str]] = {}
    for code, species in zip(different["quadrat"].tolist(), different["species"].tolist(), strict=True):
        species_of.setdefault(labels[code], set()).add(species)
    return species_of


def nearest_train(evidence: Evidence, *subsets: str) -> np.ndarray:
    """Measure from each held-out survey to the nearest survey of some subsets, metres."""
    from spatialsplit.audit.geometry import Nearest

    tests = evidence.held_out_places
    nearest = Nearest(tests["lon"].to_numpy(), tests["lat"].to_numpy())
    others = evidence.places.loc[evidence.places["subset"].isin(subsets), ["lon", "lat"]].to_numpy()
    for start in range(0, len(others), _BATCH):
        nearest.see(*others[start : start + _BATCH].T)
    return nearest.metres()


def ids_text(ids: Iterable[str]) -> str:
    """Join the first ids of a set in the order of their numbers."""
    ordered = sorted(ids, key=_by_number)
    return ", ".join(ordered[:3]) + (", …" if len(ordered) > 3 else "")
