"""The check that counts add up: in each step, from step to step, and with the rows of the files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pandas as pd

from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.published import Published
from spatialsplit.audit.rederiving import given_beforehand, listed_quadrats
from spatialsplit.audit.report import CannotRun, Finding, finding

_CHAIN = (("read_pa", "surveys"), ("read_po", "filter_po"))
Sum = tuple[str, object, object]


def counts_add_up(evidence: Evidence) -> Finding:
    """Compare each count that was written with what it must be; an offender is one count that is not."""
    published = evidence.dataset
    steps = _steps(published)
    sums: list[Sum] = []
    problems: list[str] = []
    for part in (
        _within_steps,
        _between_steps,
        _po_rows,
        _pa_rows,
        _dropped_files,
        _quadrats,
        _drawn,
        _species,
    ):
        try:
            sums += part(evidence, steps)
        except CannotRun as reason:
            problems.append(str(reason))
    if not sums:
        raise CannotRun(problems[0] if problems else "there is nothing to count")
    wrong = [f"{what}: {said}, not {counted}" for what, said, counted in sums if said != counted]
    return finding(wrong, f"{len(sums)} counts")


def _steps(published: Published) -> dict[str, dict[str, Any]]:
    listed = published.maybe("steps", kind=list, default=[])
    return {str(step["step"]): step for step in listed}


def _step(steps: dict[str, dict[str, Any]], name: str) -> dict[str, Any]:
    if name not in steps:
        raise CannotRun(f"manifest.json has no step {name}")
    return steps[name]


def _within_steps(evidence: Evidence, steps: dict[str, dict[str, Any]]) -> Iterator[Sum]:
    for name, step in steps.items():
        yield f"step {name}: in", step["in"], step["kept"] + sum(step["dropped"].values())


def _between_steps(evidence: Evidence, steps: dict[str, dict[str, Any]]) -> Iterator[Sum]:
    for before, after in _CHAIN:
        if before in steps and after in steps:
            yield f"step {after}: in", steps[after]["in"], steps[before]["kept"]


def _po_rows(evidence: Evidence, steps: dict[str, dict[str, Any]]) -> Iterator[Sum]:
    if evidence.po and "filter_po" in steps:
        yield "step filter_po: kept (PO_train)", steps["filter_po"]["kept"], evidence.presence_only.n_rows


def _pa_rows(evidence: Evidence, steps: dict[str, dict[str, Any]]) -> Iterator[Sum]:
    """Put the survey tables together again with what was dropped."""
    if not steps:
        return
    rows = evidence.all_rows()
    labelled = rows[(rows["speciesId"] != "") & (rows["role"] != "pa_test_blind")]
    blind = rows[rows["role"] == "pa_test_blind"]
    n_test = int((labelled["role"] == "pa_test").sum())
    if "vocabulary_surveys" in steps:
        yield "step vocabulary_surveys: kept (PA_test_blind)", steps["vocabulary_surveys"]["kept"], len(blind)
    if "pa_test" not in evidence.dataset.tables:
        return
    if "vocabulary_labels" in steps:
        yield "step vocabulary_labels: kept (PA_test)", steps["vocabulary_labels"]["kept"], n_test
    if "surveys" in steps:
        dropped = sum(_sum(steps, "vocabulary_labels").values()) + _sum(steps, "empty_surveys").total()
        n_empty = int((rows["role"] == "pa_train_empty").sum())
        yield "step surveys: kept (PA files)", steps["surveys"]["kept"], len(labelled) + n_empty + dropped


def _sum(steps: dict[str, dict[str, Any]], name: str) -> Counter[str]:
    return Counter(steps.get(name, {}).get("dropped", {}))


_COUNTED_ONLY = {"duplicate"}
"""Reasons whose rows need not be listed: another row says the same."""

_WHOLE_SURVEYS = {"survey_coordinates", "survey_years"}
"""Reasons that drop surveys and all that they found: of a wide table, a row that is listed is one label or more."""

_DROPPED_IN: dict[str, tuple[str, ...]] = {
    "po_removed": ("filter_po",),
    "dropped_po": ("read_po",),
    "dropped_pa": ("read_pa", "surveys"),
    "dropped_labels": ("vocabulary_labels",),
    "dropped_surveys": ("empty_surveys", "vocabulary_surveys"),
}


def _dropped_files(evidence: Evidence, steps: dict[str, dict[str, Any]]) -> Iterator[Sum]:
    """Each file of what was dropped, reason by reason."""
    published = evidence.dataset
    if not steps or not published.has_private:
        return
    wide = published.maybe("recipe", "inputs", "pa", "layout", kind=str) == "wide"
    for role, names in _DROPPED_IN.items():
        said: Counter[str] = sum((_sum(steps, name) for name in names), Counter())
        counted = _reasons(published, role)
        for reason in sorted({*said, *counted} - (_COUNTED_ONLY - set(counted))):
            n_listed = counted[reason]
            may_be_fewer = wide and role == "dropped_pa" and reason in _WHOLE_SURVEYS
            fine = may_be_fewer and 0 < n_listed <= said[reason]
            yield f"dropped as {reason} ({role})", said[reason], said[reason] if fine else n_listed


def _reasons(published: Published, role: str) -> Counter[str]:
    if role not in published.roles.values():
        return Counter()
    table = published.table(role).naming(["reason"])
    counted: Counter[str] = Counter()
    for batch in table.batches("reason"):
        counted.update(batch["reason"].tolist())
    return counted


def _quadrats(evidence: Evidence, steps: dict[str, dict[str, Any]]) -> Iterator[Sum]:
    """Count the surveys of each quadrat again, from the coordinates."""
    published = evidence.dataset
    listed = listed_quadrats(published)
    evidence.all_rows()
    if "empty_surveys" in steps:
        yield (
            "step empty_surveys: in (quadrats.csv)",
            steps["empty_surveys"]["in"],
            int(listed["n_surveys"].sum()),
        )
    for word, counted in (("quadrats", len(listed)), ("occupied", int(listed["occupied"].sum()))):
        said = published.maybe("grid", word, kind=int)
        if said is not None:
            yield f"grid: {word} (quadrats.csv)", said, counted
    stands = evidence.places_on_grid()
    stands = stands.drop_duplicates(["survey", "key", "subset"])
    empty = stands["role"] == "pa_train_empty"
    counts = Counter(stands["quadrat"])
    empties = Counter(stands.loc[empty, "quadrat"])
    complete = _with_dropped(evidence, counts, empties)
    for label, n_surveys, n_empty in zip(listed["quadratId"], listed["n_surveys"], listed["n_empty"], strict=True):
        agree = complete or n_surveys < counts[label]
        yield f"surveys of quadrat {label}", int(n_surveys), counts[label] if agree else int(n_surveys)
        yield f"empty surveys of quadrat {label}", int(n_empty), empties[label] if complete else int(n_empty)


def _with_dropped(evidence: Evidence, counts: Counter[str], empties: Counter[str]) -> bool:
    """Count the dropped surveys as well; False where they are not there and counts are lower bounds."""
    published = evidence.dataset
    if not published.has_private:
        return False
    if "dropped_surveys" in published.roles.values():
        dropped = published.table("dropped_surveys").naming(["reason"]).read("reason", "quadratId")
        counts.update(dropped["quadratId"])
        empties.update(dropped.loc[dropped["reason"] == "empty_in_holdout", "quadratId"])
    return True


def _drawn(evidence: Evidence, steps: dict[str, dict[str, Any]]) -> Iterator[Sum]:
    """Compare what manifest.json says of each holdout."""
    published = evidence.dataset
    if given_beforehand(published.maybe("draw", default={})):
        return
    listed = listed_quadrats(published)
    free = listed[listed["occupied"]]
    for holdout in published.maybe("draw", "holdouts", kind=list, default=[]):
        taken = free[free["subset"] == holdout["name"]]
        measured = {
            "free": len(free),
            "drawn": len(taken),
            "surveys_free": _full(free),
            "surveys_drawn": _full(taken),
        }
        for word, counted in measured.items():
            if word in holdout:
                yield f"draw of {holdout['name']}: {word}", holdout[word], counted
        free = free[free["subset"] != holdout["name"]]


def _full(listed: pd.DataFrame) -> int:
    return int((listed["n_surveys"] - listed["n_empty"]).sum())


def _species(evidence: Evidence, steps: dict[str, dict[str, Any]]) -> Iterator[Sum]:
    """Count the records of each species again."""
    table = evidence.dataset.table("species")
    if not table.has("speciesId"):
        raise CannotRun(f"{table.name} has no speciesId")
    counted = _counted_species(evidence)
    columns = [name for name in counted if name in table.header]
    listed = table.naming(columns).read("speciesId", *columns)
    known = sorted(set().union(*(set(counted[name]) for name in counted)) - {""})
    yield "species listed in species.csv", len(listed), len(known)
    ids = listed["speciesId"].tolist()
    for name in columns:
        for species, said in zip(ids, listed[name], strict=True):
            yield f"{name} of species {species}", said, str(counted[name][species])


def _counted_species(evidence: Evidence) -> dict[str, Counter[str]]:
    rows = evidence.all_rows()
    counted: dict[str, Counter[str]] = {}
    if evidence.po:
        counted["n_po_train"] = evidence.presence_only.species
    for subset in ("train", "val"):
        own = rows.loc[rows["subset"] == subset, "speciesId"]
        if len(own):
            counted[f"n_pa_{subset}"] = Counter(own)
    return counted
