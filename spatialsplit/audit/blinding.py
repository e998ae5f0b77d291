"""The checks that the test is blind: ids agree, no column tells the label, nothing private is public."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from spatialsplit.audit.disclosure import Disclosure
from spatialsplit.audit.evidence import Evidence
from spatialsplit.audit.giveaway import Labels, order_tells, why_it_tells
from spatialsplit.audit.published import STANDARD_ROLES, UNLISTED_PUBLIC, files_below
from spatialsplit.audit.report import CannotRun, Finding, finding
from spatialsplit.audit.tables import Table, Unreadable, open_table
from spatialsplit.audit.words import ALIASES, folded

ALLOWED = (
    "surveyId", "lon", "lat", "date", "year", "month", "day", "dayOfYear", "geoUncertaintyInM", "areaInM2",
    "region", "country", "timeSerieID",
)  # fmt: skip
_SPECIES_NAMES = {alias for word in ("speciesId", "speciesName", "predictions") for alias in ALIASES[word]}
_SPECIES_COLUMNS = {"speciesId", "speciesName", "n_po_train", "n_pa_train", "n_pa_val"}
_QUADRAT_COLUMNS = {"quadratId", "n_surveys", "n_empty", "stratum", "subset"}
_TABLE_ENDINGS = (".csv", ".gz", ".parquet", ".tsv", ".txt")
_TEXT_BYTES = 5 << 20


def ids_agree(evidence: Evidence) -> Finding:
    """Look for ids that repeat, or that blinded table, solution, sample and PA_test do not share."""
    published = evidence.dataset
    roles = ("pa_test_blind", "solution", "sample_submission", "pa_test")
    tables = {role: published.table(role) for role in roles if role in published.roles.values()}
    without = next((table.name for table in tables.values() if not table.has("surveyId")), None)
    if without:
        raise CannotRun(f"{without} has no survey ids")
    if len(tables) < 2:
        raise CannotRun("there are no two of blinded table, solution and sample submission")
    ids = {table.name: table.read("surveyId")["surveyId"] for table in tables.values()}
    once = {table.name for role, table in tables.items() if role != "pa_test"}
    problems = [line for name in sorted(once) for line in _repeated(name, ids[name])]
    problems += _different({name: set(column) for name, column in ids.items()})
    problems += _other_species(evidence)
    return finding(problems, f"{max(len(set(column)) for column in ids.values())} ids in {len(tables)} files")


def _repeated(name: str, ids: pd.Series) -> Iterator[str]:
    again = ids[ids.duplicated(keep="first")]
    for row, survey in zip(again.index, again, strict=True):
        yield f"id {survey or '(empty)'} repeats in line {row + 2} of {name}"


def _different(ids: dict[str, set[str]]) -> list[str]:
    everything = set().union(*ids.values())
    problems = []
    for name, own in ids.items():
        problems += [f"id {survey} is missing in {name}" for survey in _sorted(everything - own)]
    return problems


def _sorted(ids: set[str]) -> list[str]:
    return sorted(ids, key=lambda text: (len(text), text))


def _other_species(evidence: Evidence) -> list[str]:
    """Compare the species of the solution with those of PA_test, where both are there."""
    published = evidence.dataset
    if not {"solution", "pa_test"} <= set(published.tables):
        return []
    solution = published.table("solution").read("surveyId", "predictions")
    if "predictions" not in solution:
        return []
    wanted = evidence.truth
    name = published.table("solution").name
    lists = enumerate(zip(solution["surveyId"], solution["predictions"], strict=True), start=2)
    return [
        f"survey {survey} has other species in line {line} of {name} than in PA_test"
        for line, (survey, text) in lists
        if survey in wanted and frozenset(text.split()) != wanted[survey]
    ]


def no_label_in_blind(evidence: Evidence) -> Finding:
    """Look for columns of the blinded table that are not allowed, hold species, or determine the label."""
    table = _blind_table(evidence)
    named = [name for name in table.header if _names_species(name)]
    unlisted = _unlisted(evidence, table, named)
    problems = [f"column {name!r} of {table.name} is named like a label" for name in named]
    open_questions = []
    if evidence.published is not None and evidence.published.manifest is None and unlisted:
        open_questions.append(f"column {unlisted[0]!r} is not on the allow-list, and no manifest.json says more")
    else:
        problems += [f"column {name!r} of {table.name} is not on the allow-list" for name in unlisted]
    try:
        labels = Labels(evidence.truth, _species_names(evidence), evidence.places)
        problems += _telling(table, labels, passed_over={*named, *unlisted})
    except CannotRun as reason:
        open_questions.append(f"the content of the columns cannot be judged: {reason}")
    return finding(problems, f"{len(table.header)} columns", undecided="; ".join(open_questions) or None)


def _telling(table: Table, labels: Labels, *, passed_over: set[str]) -> Iterator[str]:
    """Say which of the other columns give the label away, and how."""
    cells = table.read_all()
    ids = cells[table.means["surveyId"]] if table.has("surveyId") else pd.Series(dtype=object)
    places = {table.means.get(word) for word in ("surveyId", "lon", "lat")}
    for name in table.header:
        why = None if name in places | passed_over else why_it_tells(ids, cells[name], labels)
        if why:
            yield f"column {name!r} of {table.name} {why}"
    face = order_tells(ids, labels)
    if face:
        yield f"the order of the rows of {table.name} determines {face}"


def _blind_table(evidence: Evidence) -> Table:
    if evidence.published is not None:
        return evidence.published.table("pa_test_blind")
    if evidence.blind is None:
        raise CannotRun("the test table holds its labels")
    return evidence.blind


def _unlisted(evidence: Evidence, table: Table, named: list[str]) -> list[str]:
    """Name the columns that neither the contract nor the recipe allows; a foreign dataset has no such list."""
    if evidence.published is None:
        return []
    further = evidence.dataset.maybe("recipe", "output", "blind_columns", kind=list, default=[])
    words = [*ALLOWED, *evidence.promise.keys, *map(str, further)]
    allowed = {*words, *(table.means[word] for word in words if word in table.means), *named}
    return [name for name in table.header if name not in allowed]


def _names_species(name: str) -> bool:
    return folded(name) in _SPECIES_NAMES


def _species_names(evidence: Evidence) -> frozenset[str]:
    if evidence.published is None or "species" not in evidence.published.tables:
        return frozenset()
    names = evidence.published.table("species").read("speciesName")
    return frozenset(name.casefold() for name in names.get("speciesName", []) if name)


def nothing_private_in_public(evidence: Evidence) -> Finding:
    """Look into every public file for what should not be there."""
    published = evidence.dataset
    folder = published.path("public/")
    names = [f"public/{name}" for name in files_below(folder)]
    outputs = published.maybe("outputs", default=None)
    problems = []
    for name in names:
        if not _may_be_public(name, outputs):
            problems.append(f"{name} is not one of the dataset's public files")
            continue
        role = published.roles.get(name, "")
        problems += [f"{name} {why}" for why in _private_content(evidence, name, role)]
    problems += [f"{name} holds the sealed seed" for name in _holding_the_seed(evidence)]
    return finding(problems, f"{len(names)} public files")


def _holding_the_seed(evidence: Evidence) -> Iterator[str]:
    """Name the files beside public/ that tell a sealed seed: what is sealed stands in no file."""
    published = evidence.dataset
    if not published.public_only and _sealed(evidence):
        if published.maybe("recipe", "seed", kind=str) or published.maybe("seed", "value", kind=str):
            yield "manifest.json"
        for name in ("manifest.json", "recipe.toml"):
            if published.path(name).is_file() and _seed_within(evidence, published.path(name)):
                yield name


def _may_be_public(name: str, outputs: dict[str, object] | None) -> bool:
    if name.removeprefix("public/") in UNLISTED_PUBLIC:
        return True
    if outputs is not None:
        return name in outputs
    return name.removesuffix(".gz").rpartition(".")[0] in STANDARD_ROLES


def _private_content(evidence: Evidence, name: str, role: str) -> Iterator[str]:
    path = evidence.dataset.path(name)
    if _seed_within(evidence, path):
        yield "holds the sealed seed"
    if role in ("po_train", "pa_train", "pa_train_empty", "pa_val"):
        return
    try:
        disclosure = Disclosure(evidence)
    except (CannotRun, Unreadable):
        disclosure = None
    if name.casefold().endswith(_TABLE_ENDINGS):
        try:
            table = open_table(path, name=name)
            told = [*_private_columns(table, role), *(disclosure.in_table(table) if disclosure else ())]
        except Unreadable:
            told = []
        yield from told
        if told:
            return
    if disclosure is not None and not name.casefold().endswith(".parquet"):
        yield from disclosure.in_text(path)


def _sealed(evidence: Evidence) -> bool:
    return bool(evidence.dataset.maybe("seed", "kind", kind=str) == "sealed")


def _seed_within(evidence: Evidence, path: Path) -> bool:
    if not evidence.seed or not _sealed(evidence) or path.stat().st_size > _TEXT_BYTES:
        return False
    return evidence.seed.encode() in path.read_bytes()


def _private_columns(table: Table, role: str) -> Iterator[str]:
    if any(folded(name) == "usage" for name in table.header):
        yield "has the column Usage"
    further: set[str] = set()
    if role == "species":
        further = set(table.header) - _SPECIES_COLUMNS
    elif role == "quadrats":
        further = {name for name in table.header if not name.endswith("_number")} - _QUADRAT_COLUMNS
    if further:
        yield f"has the column {min(further)!r}"
