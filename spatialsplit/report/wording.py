"""What checks, steps and parts of a manifest are called on the page, and the recipe written out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

CHECKS: Mapping[str, tuple[str, str]] = {
    "surveys_in_one_subset": ("Each survey is in one subset", "surveys in two"),
    "quadrats_in_one_subset": ("Each quadrat is in one subset", "quadrats in two"),
    "po_outside_radius": ("No presence-only record is near a held-out survey", "records within the radius"),
    "test_species_known": ("Every test species can be learnt", "species that no training has"),
    "no_empty_test_survey": ("No test survey is without a species", "empty surveys"),
    "ids_agree": ("All test files have the same surveys", "ids that differ"),
    "no_label_in_blind": ("The blinded table does not tell the answer", "columns that tell it"),
    "nothing_private_in_public": ("Nothing private is in the public folder", "files"),
    "no_duplicate_across_subsets": ("No test record stands in training too", "copies"),
    "draw_rederives": ("The draw follows from the seed", "quadrats that do not"),
    "usage_shares_no_quadrat": ("Public and Private share no quadrat", "quadrats with both"),
    "counts_add_up": ("Every row is accounted for", "counts that differ"),
    "files_match_manifest": ("The files are those of the manifest", "files that differ"),
}
"""Each check as a sentence that holds when it passes, and what its value counts."""

OUTCOMES = {True: ("passed", "Passed"), False: ("failed", "Failed"), None: ("open", "Not run")}

STEPS: Mapping[str, tuple[str, str]] = {
    "read_pa": ("Read presence-absence", "rows"),
    "surveys": ("Group into surveys", "rows"),
    "empty_surveys": ("Empty surveys of holdouts", "surveys"),
    "read_po": ("Read presence-only", "records"),
    "filter_po": ("Filter presence-only", "records"),
    "vocabulary_labels": ("Labels that only the test has", "test labels"),
    "vocabulary_surveys": ("Test surveys left without a label", "test surveys"),
}

REASONS: Mapping[str, str] = {
    "near_test": "within the radius of a test survey",
    "near_val": "within the radius of a validation survey",
    "in_test_quadrat": "in a test quadrat",
    "rare_species": "species with too few records",
    "over_maximum": "more records of a species than wanted",
    "duplicate": "the same survey and species again",
    "empty_in_holdout": "no species, in a held-out quadrat",
    "species_only_in_test": "species that no training has",
    "no_species_left": "no species left",
}


def reason_words(reason: str) -> str:
    """Say a reason in words; one without words of its own is its name, spaced.

    Examples
    --------
    >>> reason_words("near_test"), reason_words("bad_latitude")
    ('within the radius of a test survey', 'bad latitude')
    """
    return REASONS.get(reason, reason.replace("_", " "))


def recipe_lines(recipe: Mapping[str, Any]) -> str:
    """Write a resolved recipe as TOML, leaving out what is not set.

    Examples
    --------
    >>> print(recipe_lines({"name": "x", "seed": None, "quadrats": {"size_m": 5000}, "holdouts": [{"share": 0.1}]}))
    name = "x"
    quadrats.size_m = 5000
    <BLANKLINE>
    [[holdouts]]
    share = 0.1
    """
    tables = {key: part for key, part in recipe.items() if _is_tables(part)}
    lines = [line for key, part in recipe.items() if key not in tables for line in _dotted(_key(key), part)]
    for key, parts in tables.items():
        for part in parts:
            lines += ["", f"[[{_key(key)}]]"]
            lines += [line for inner, value in part.items() for line in _dotted(_key(inner), value)]
    return "\n".join(lines)


def _is_tables(part: Any) -> bool:
    return isinstance(part, list) and bool(part) and all(isinstance(each, Mapping) for each in part)


def _dotted(key: str, part: Any) -> Iterator[str]:
    if isinstance(part, Mapping):
        for inner, value in part.items():
            yield from _dotted(f"{key}.{_key(inner)}", value)
    elif part is not None:
        yield f"{key} = {json.dumps(part, ensure_ascii=False)}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def citation(about: Mapping[str, Any], title: str) -> str:
    """Give the citation of the recipe, or put one together from what it says.

    Examples
    --------
    >>> citation({"creators": ["A. Ray", "B. Fern"], "version": "2"}, "Flora of Here")
    'A. Ray, B. Fern: Flora of Here. Version 2.'
    """
    said = about.get("citation")
    if isinstance(said, str) and said:
        return said
    creators = about.get("creators")
    names = ", ".join(str(name) for name in creators) if isinstance(creators, list) else ""
    parts = [f"{names}: {title}." if names else f"{title}."]
    if about.get("date_published"):
        parts.append(f"Published {about['date_published']}.")
    if about.get("version"):
        parts.append(f"Version {about['version']}.")
    if about.get("url"):
        parts.append(str(about["url"]))
    return " ".join(parts)
