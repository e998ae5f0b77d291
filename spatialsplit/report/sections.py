"""The parts of the page as plain lists and dictionaries, ready for the template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from spatialsplit.plots.subsets import MONTHS
from spatialsplit.report.balance import Balance, summary_of
from spatialsplit.report.findings import Distances
from spatialsplit.report.source import Source
from spatialsplit.report.wording import CHECKS, OUTCOMES, STEPS, citation, reason_words, recipe_lines

MOST_SPECIES = 20
NEEDED = {
    "pa_train": "the training surveys",
    "pa_test_blind": "the test surveys",
    "quadrats": "the list of quadrats",
    "species": "the list of species",
}
"""Tables that nearly every dataset has, and what the page misses without them."""


def checks_of(source: Source) -> list[dict[str, Any]]:
    """Give a row a check: in words, its outcome, value, limit, detail, and what the build itself found."""
    recorded = {
        entry.get("name"): entry.get("passed")
        for entry in source.said("audit", kind=list, default=[])
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str) and isinstance(entry.get("passed"), bool)
    }
    rows = []
    for check in source.audit.checks:
        words, counted = CHECKS.get(check.name, (check.name, "offenders"))
        kind, outcome = OUTCOMES[check.passed]
        at_build = OUTCOMES.get(recorded.get(check.name), (None, ""))[1] if check.passed is None else ""
        rows.append(
            {
                "name": check.name,
                "words": words,
                "counted": counted,
                "kind": kind,
                "outcome": outcome,
                "value": check.value,
                "limit": check.limit,
                "detail": check.detail,
                "at_build": at_build if at_build != "Not run" else "",
            }
        )
    return rows


def verdict_of(source: Source) -> dict[str, Any]:
    """Give the audit's outcome in one sentence."""
    outcomes = [check.passed for check in source.audit.checks]
    passed, failed, not_run = (outcomes.count(each) for each in (True, False, None))
    words = [f"{passed} checks passed", *([f"{failed} failed"] if failed else [])]
    if not_run:
        words.append(f"{not_run} could not run on these files")
    return {"kind": "failed" if failed else "passed", "sentence": ", ".join(words) + ".", "passed": passed}


def steps_of(source: Source) -> list[dict[str, Any]]:
    """Give a row a step, with the reasons in words."""
    rows = []
    for step in source.said("steps", kind=list, default=[]):
        if not isinstance(step, Mapping):
            continue
        words, unit = STEPS.get(str(step.get("step")), (str(step.get("step")), "rows"))
        dropped = {reason: count for reason, count in (step.get("dropped") or {}).items() if count is not None}
        rows.append(
            {
                "name": step.get("step"),
                "words": words,
                "unit": unit,
                "in": step.get("in"),
                "kept": step.get("kept"),
                "dropped": sum(dropped.values()),
                "reasons": [{"words": reason_words(reason), "n": count} for reason, count in dropped.items()],
            }
        )
    return rows


def removed_reasons(source: Source) -> list[dict[str, Any]]:
    """Give why presence-only records were removed by the filter."""
    step = next((step for step in steps_of(source) if step["name"] == "filter_po"), None)
    return [{**reason, "share": reason["n"] / (step["in"] or 1)} for reason in step["reasons"]] if step else []


def distance_rows(found: Distances) -> list[dict[str, Any]]:
    """Give quantiles of each distance."""
    words = {"train": "training surveys", "val": "validation surveys", "PO": "presence-only records"}
    parts = {words[name]: far[np.isfinite(far)] for name, far in found.to.items()}
    if len(found.compare):
        parts["another survey, of any subset"] = found.compare
    rows = []
    for name, far in parts.items():
        quantiles = np.quantile(far, [0, 0.05, 0.25, 0.5, 0.75, 1]).tolist()
        rows.append({"to": name, **dict(zip(("min", "q05", "q25", "median", "q75", "max"), quantiles, strict=True))})
    return rows


def species_rows(counts: pd.DataFrame, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """Give the commonest species with their counts in each subset."""
    if counts.empty:
        return []
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index[:MOST_SPECIES]
    return [
        {"id": str(species), "name": names.get(str(species), ""), "counts": counts.loc[species].to_dict()}
        for species in order
    ]


def species_sentence(counts: pd.DataFrame) -> str:
    """Say how many species of the test are rare in training."""
    if "test" not in counts.columns or "train" not in counts.columns:
        return ""
    test = counts[counts["test"] > 0]
    if not len(test):
        return ""
    learnt = test["train"] + (test["PO"] if "PO" in test.columns else 0)
    return (
        f"Of {len(test):,} species in the test, {int((test['train'] == 0).sum()):,} are in no training survey and "
        f"{int((learnt < 10).sum()):,} have fewer than 10 surveys and records to learn from."
    )


def month_rows(months: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the counts of each month."""
    return [
        {"month": month, "place": place, "counts": {name: int(count[place]) for name, count in months.items()}}
        for place, month in enumerate(MONTHS)
    ]


def balance_rows(balance: Balance) -> list[dict[str, Any]]:
    """Give a row a numeric column and subset."""
    return [{"column": column, **row} for column, values in balance.numbers.items() for row in summary_of(values)]


def kinds_of(balance: Balance) -> list[dict[str, Any]]:
    """Give each column of few different values as a table of shares."""
    return [
        {
            "column": column,
            "subsets": [str(name) for name in shares.columns],
            "rows": [{"value": str(value), "shares": [float(x) for x in row]} for value, row in shares.iterrows()],
        }
        for column, shares in balance.kinds.items()
    ]


def missing_of(source: Source) -> list[str]:
    """Say what the page lacks because a file is not there or cannot be read."""
    published = source.published
    lines = sorted(set(published.broken.values()))
    if published.manifest is None:
        lines.append("There is no manifest.json: recipe, seed, steps, inputs and versions are not known.")
    if not published.has_private and not source.public:
        lines.append(
            "There is no private/ folder: the species of the test, and where records were removed, are unknown."
        )
    for role, words in NEEDED.items():
        if source.table(role) is None and not _is_elsewhere(source, role):
            lines.append(f"There is no table of {words}.")
    return lines


def _is_elsewhere(source: Source, role: str) -> bool:
    """Tell whether a dataset of this recipe has no such table at all."""
    outputs = source.said("outputs", default=None)
    if not outputs:
        return False
    return role not in {entry.get("role") for entry in outputs.values() if isinstance(entry, Mapping)}


def files_of(source: Source) -> list[dict[str, Any]]:
    """List the files of the dataset; the private ones not in a public report."""
    return [
        {"name": name, "rows": entry.get("rows"), "bytes": entry.get("bytes"), "sha256": entry.get("sha256")}
        for name, entry in source.said("outputs", default={}).items()
        if isinstance(entry, Mapping) and (name.startswith("public/") or not source.public)
    ]


def inputs_of(source: Source) -> list[dict[str, Any]]:
    """List the inputs with their hashes."""
    return [dict(entry) for entry in source.said("inputs", kind=list, default=[]) if isinstance(entry, Mapping)]


def recipe_text(source: Source) -> str:
    """Write the recipe out; the places of the inputs are the organizers' own."""
    recipe = dict(source.said("recipe", default={}))
    if source.public:
        recipe.pop("inputs", None)
    return recipe_lines(recipe)


def seed_of(source: Source) -> dict[str, str]:
    """Give the seed where it is open, else the commitment; never a sealed seed."""
    kind = source.said("seed", "kind", kind=str, default="")
    key = {"open": "value", "sealed": "sha256"}.get(kind)
    return {"kind": kind, "value": source.said("seed", key, kind=str, default="")} if key else {"kind": "", "value": ""}


def about_of(source: Source) -> dict[str, Any]:
    """Give title, description, licence and citation."""
    about = source.said("recipe", "about", default={})
    title = about.get("title") or source.said("name", kind=str) or _title_of_readme(source) or "A dataset"
    plain = {key: about.get(key) or "" for key in ("description", "license", "url", "version", "date_published")}
    return {**plain, "title": str(title), "citation": citation(about, str(title))}


def _title_of_readme(source: Source) -> str:
    """Read the title where there is no manifest to say it."""
    try:
        first = source.published.path("public/README.md").read_text("utf-8", errors="replace").split("\n", 1)[0]
    except OSError:
        return ""
    return first.removeprefix("#").strip()[:200] if first.startswith("# ") else ""
