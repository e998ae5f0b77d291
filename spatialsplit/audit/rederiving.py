"""The check that the draw follows from seed and labels, as far as the written files let one see."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from spatialsplit.audit.draws import Quadrat, Stock, drawn, number
from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.published import Published
from spatialsplit.audit.report import CannotRun, Finding, finding
from spatialsplit.audit.subsets import species_of_quadrats, usage_of_quadrats


@dataclass(frozen=True)
class Seed:
    """The seed as far as it is known; `why_not` where it is not."""

    value: str | None
    problems: tuple[str, ...] = ()
    why_not: str = ""


def draw_rederives(evidence: Evidence) -> Finding:
    """Derive every number and every subset again, and Public and Private with them."""
    published = evidence.dataset
    listed = listed_quadrats(published)
    seed = _seed(published, evidence.seed)
    said = published.maybe("draw")
    if said is None and seed.value is None:
        raise CannotRun("there is no manifest.json to say how it was drawn")
    draw = said or {}
    suffixed = None if seed.value is None else f"{seed.value}{draw.get('seed_suffix') or ''}"
    found = finding(list(seed.problems), "the seed fits its commitment" if evidence.seed else "")
    found += finding(_wrong_numbers(listed, suffixed), "", undecided=seed.why_not or None)
    found += _subsets(evidence, listed, draw, suffixed)
    return found + _usage(evidence, draw, suffixed)


def listed_quadrats(published: Published) -> pd.DataFrame:
    """Read quadrats.csv: counts as numbers, `occupied` beside them.

    Raises
    ------
    CannotRun
        No such file, or no such columns.
    """
    table = published.table("quadrats")
    needed = ["quadratId", "n_surveys", "n_empty", "subset"]
    listed = table.naming(table.header).read(*dict.fromkeys([*needed, *table.header]))
    missing = [word for word in needed if word not in listed]
    if missing:
        raise CannotRun(f"{table.name} has no column {missing[0]}")
    for word in ("n_surveys", "n_empty"):
        listed[word] = pd.to_numeric(listed[word], errors="coerce").fillna(0).astype(int)
    listed["occupied"] = listed["n_surveys"] > listed["n_empty"]
    return listed


def _seed(published: Published, given: str | None) -> Seed:
    kind = published.maybe("seed", "kind", kind=str)
    if kind == "sealed":
        if given is None:
            return Seed(None, (), "the seed is sealed; the numbers can be checked when it is revealed (--seed)")
        committed = published.maybe("seed", "sha256", kind=str)
        if hashlib.sha256(given.encode()).hexdigest() == committed:
            return Seed(given)
        return Seed(None, ("the given seed is not the one that manifest.json commits to",))
    value = published.maybe("seed", "value", kind=str)
    if kind == "open" and value is not None:
        other = given is not None and given != value
        return Seed(value, ("the given seed is not the one in manifest.json",) if other else ())
    return Seed(given, (), "" if given is not None else "manifest.json does not say the seed")


def _holdouts_listed(listed: pd.DataFrame) -> list[str]:
    return [str(name).removesuffix("_number") for name in listed if str(name).endswith("_number")]


def _wrong_numbers(listed: pd.DataFrame, seed: str | None) -> list[str]:
    if seed is None:
        return []
    return [
        f"the {holdout} number of quadrat {label} is {text}, not {number(seed, holdout, label):016x}"
        for holdout in _holdouts_listed(listed)
        for label, text in zip(listed["quadratId"], listed[f"{holdout}_number"], strict=True)
        if text and text != f"{number(seed, holdout, label):016x}"
    ]


def _subsets(evidence: Evidence, listed: pd.DataFrame, draw: dict[str, Any], seed: str | None) -> Finding:
    """Draw again, and compare with the column `subset`; the published numbers stand in for a sealed seed."""
    holdouts = draw.get("holdouts")
    if not isinstance(holdouts, list) or not holdouts:
        return Finding(0, [], "", "how much was drawn is not known without a manifest.json")
    if given_beforehand(draw):
        return Finding(0, [], "", "quadrats were assigned by a file, which is not published")
    try:
        stock = _stock(evidence, draw)
    except CannotRun as reason:
        return Finding(0, [], "", f"the draw spares species, and not all of them can be seen: {reason}")
    subset = dict.fromkeys(listed["quadratId"], str(draw.get("remainder") or "train"))
    free = _occupied(listed)
    for holdout in holdouts:
        name = str(holdout["name"])
        numbers = _numbers(listed, free, name, seed)
        if numbers is None:
            return Finding(0, [], "", f"quadrats.csv has no {name}_number, and the seed is not known")
        taken = drawn(free, numbers, float(holdout["share"]), **_variant(draw), stock=stock)
        subset.update(dict.fromkeys(taken, name))
        free = [quadrat for quadrat in free if quadrat.label not in taken]
    return finding(_differences(listed, subset), f"{len(listed)} quadrats, {', '.join(_shares(holdouts))}")


def _stock(evidence: Evidence, draw: dict[str, Any]) -> Stock | None:
    """Gather which species lie in which quadrats, where the draw left some of each to the remainder."""
    least = draw.get("min_train_quadrats")
    if not isinstance(least, int) or least < 1:
        return None
    return Stock(species_of_quadrats(evidence), least)


def given_beforehand(draw: dict[str, Any]) -> bool:
    """Tell whether a file assigned some or all quadrats, so that the draw did not decide alone."""
    assignment = draw.get("assignment")
    return isinstance(assignment, dict) and any(assignment.values())


def _variant(draw: dict[str, Any]) -> dict[str, Any]:
    return {
        "method": str(draw.get("method") or "quota"),
        "share_of": str(draw.get("share_of") or "quadrats"),
        "strata": bool(draw.get("strata")),
    }


def _shares(holdouts: list[dict[str, Any]]) -> list[str]:
    return [f"{holdout['name']} {holdout['share']}" for holdout in holdouts]


def _occupied(listed: pd.DataFrame) -> list[Quadrat]:
    held = listed[listed["occupied"]].drop_duplicates("quadratId")
    strata = held["stratum"] if "stratum" in held else [""] * len(held)
    full = held["n_surveys"] - held["n_empty"]
    return [Quadrat(*row) for row in zip(held["quadratId"], full.tolist(), strata, strict=True)]


def _numbers(listed: pd.DataFrame, free: list[Quadrat], holdout: str, seed: str | None) -> dict[str, int] | None:
    if seed is not None:
        return {quadrat.label: number(seed, holdout, quadrat.label) for quadrat in free}
    column = f"{holdout}_number"
    if column not in listed:
        return None
    written = dict(zip(listed["quadratId"], listed[column], strict=True))
    return {quadrat.label: int(written[quadrat.label] or "0", 16) for quadrat in free}


def _differences(listed: pd.DataFrame, subset: dict[str, str]) -> list[str]:
    return [
        f"quadrat {label} is {said} in line {row + 2} of quadrats.csv, but {subset[label]} by the draw"
        for row, (label, said) in enumerate(zip(listed["quadratId"], listed["subset"], strict=True))
        if said != subset[label]
    ]


def _usage(evidence: Evidence, draw: dict[str, Any], seed: str | None) -> Finding:
    """Draw Public among the test quadrats that still have a survey, and compare with the solution."""
    share = draw.get("public_share")
    if not isinstance(share, int | float):
        return Finding(0, [], "")
    undecided = "Public and Private are drawn with the seed" if seed is None else None
    try:
        usage = usage_of_quadrats(evidence)
    except CannotRun as reason:
        return Finding(0, [], f"Public and Private not looked at: {reason}", undecided)
    stands = list(zip(usage["quadrat"], usage["Usage"], usage["survey"], strict=True))
    neither = [
        f"quadrat {label} is {said or '(empty)'} in the solution (survey {survey}), neither Public nor Private"
        for label, said, survey in stands
        if said not in ("Public", "Private")
    ]
    if seed is None:
        return finding(neither, "", undecided=undecided)
    labels = sorted(set(usage["quadrat"]), key=lambda label: (number(seed, "public", label), label))
    public = set(labels[: math.floor(share * len(labels) + 0.5)])
    lines = [
        f"quadrat {label} is {said} in the solution (survey {survey}), not so by the draw"
        for label, said, survey in stands
        if said in ("Public", "Private") and (said == "Public") != (label in public)
    ]
    return finding([*neither, *lines], f"{len(public)} of {len(labels)} test quadrats Public")
