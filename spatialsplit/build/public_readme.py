"""The README beside the published files, in a participant's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spatialsplit.columns import COLUMNS
from spatialsplit.layouts import ABOUT
from spatialsplit.recipe import Recipe
from spatialsplit.split import Split
from spatialsplit.tables import Written

HOW_SCORED = {
    "f1_samples": (
        "For each test survey give the set of species that you think were found. The score is the mean over the "
        "surveys of F1 = TP / (TP + (FP + FN) / 2): "
        "higher is better."
    ),
    "top_k_error": (
        "For each test survey give up to {k} candidate species. The score is the share of surveys whose species "
        "is not among them: lower is better."
    ),
}


def public_readme(recipe: Recipe, split: Split, written: Mapping[str, Sequence[Written]], n_test: int) -> str:
    """Write the README of the public folder.

    Parameters
    ----------
    recipe : Recipe
    split : Split
    written : mapping of role to files
    n_test : int
        Test surveys that are published.
    """
    about = recipe.about
    parts = [
        f"# {about.title or recipe.name}",
        about.description or "",
        "![Where the subsets lie: training blue, validation yellow, test red](split.png)",
        _files(written),
        _how_split(recipe, split, n_test, "po_train" in written),
        _how_to_submit(recipe, written),
        _checks(recipe, written),
        _terms(recipe),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _files(written: Mapping[str, Sequence[Written]]) -> str:
    lines = ["## Files", ""]
    for role, text in ABOUT.items():
        for file in written.get(role, []):
            form = f"Separator `{file.separator}`, " if file.separator else "Parquet, "
            lines += [f"### `{file.path.name}`", "", f"{text} {form}{file.n_rows:,} rows.", "", *_columns(file), ""]
    return "\n".join(lines).rstrip()


def _columns(file: Written) -> list[str]:
    lines = ["| column | type | what it holds |", "|---|---|---|"]
    for column in file.columns:
        known = COLUMNS.get(column.means or column.name)
        name = column.name.replace("|", "\\|") or "(no name)"
        lines.append(
            f"| `{name}` | {known.type if known else column.type} | "
            f"{known.about if known else 'As the source has it.'} |"
        )
    return lines


def _how_split(recipe: Recipe, split: Split, n_test: int, with_po: bool) -> str:
    grid = split.rules.grid
    unit = "" if grid.preset is None else f" (the grid `{grid.preset}`)"
    drawn = "; ".join(
        f"{holdout.drawn} of {holdout.free} quadrats for {holdout.name} ({holdout.surveys_drawn:,} of "
        f"{holdout.surveys_free:,} surveys)"
        for holdout in split.draw.holdouts
    )
    lines = [
        "## How it was split",
        "",
        f"The area is cut into quadrats of {grid.size_m:,} m in {grid.crs}{unit}. Whole quadrats were drawn by "
        f"SHA-256 of the seed, the subset's name and the quadrat's label: "
        f"{drawn}. The rest is `{recipe.draw.remainder}`. No quadrat is in two subsets. {n_test:,} test surveys "
        f"are published.",
    ]
    lines += ["", *_seed_lines(recipe, split), ""]
    if with_po and recipe.po_filter.around:
        around = " and ".join(recipe.po_filter.around)
        lines.append(
            f"Presence-only records within {recipe.po_filter.radius_m:g} m (geodesic on WGS84) of a {around} "
            f"survey were removed."
        )
    lines.append(
        "The test has species only that the training or validation data have, and no test survey is without a species."
    )
    return "\n".join(lines)


def _seed_lines(recipe: Recipe, split: Split) -> list[str]:
    """Say what anybody needs to follow the draw: the shares, and the seed or the commitment to it."""
    shares = ", ".join(f"{holdout.share:g} of the free quadrats for {holdout.name}" for holdout in split.draw.holdouts)
    seed = recipe.seed_entry()
    lines = [f"- Drawn by {recipe.draw.method} of {recipe.draw.share_of}: {shares}."]
    least = recipe.draw.min_train_quadrats
    if least:
        lines.append(
            f"- A quadrat without which a species would have fewer than {least} left in `{recipe.draw.remainder}` was "
            f"passed over, and the next one taken."
        )
    if seed["kind"] == "open":
        lines.append(f"- The seed is `{split.draw.seed}`.")
    else:
        suffix = split.draw.seed.removeprefix(recipe.secret_seed())
        lines.append(
            f"- The seed is secret until the end. `printf '%s' SEED | sha256sum` will give `{seed['sha256']}`."
        )
        lines += [f"- The attempt that was kept: `{suffix}` is added to the seed."] if suffix else []
    return lines


def _how_to_submit(recipe: Recipe, written: Mapping[str, Sequence[Written]]) -> str:
    metric, options = recipe.evaluation.metric, recipe.evaluation.options
    sample, blind = written["sample_submission"][0], written["pa_test_blind"][0]
    names = [column.name for column in sample.columns]
    flags = "".join(f" --{name.replace('_', '-')} {value}" for name, value in options.items())
    return "\n".join(
        [
            "## How to submit",
            "",
            f"A CSV with the columns `{names[0]}` and `{names[1]}`, a row for each of the {blind.n_rows:,} rows "
            f"of `{blind.path.name}`; `{names[1]}` holds species numbers in increasing "
            "order, a space between. " + HOW_SCORED[metric].format(k=options.get("k", 30)),
            "",
            "```",
            f"spatialsplit check-submission --metric {metric}{flags} --solution {blind.path.name} --submission "
            f"yours.csv",
            "```",
        ]
    )


def _checks(recipe: Recipe, written: Mapping[str, Sequence[Written]]) -> str:
    lines = ["## How to check", "", "```", "sha256sum -c SHA256SUMS          # these are the published files"]
    if not recipe.sealed:
        lines.append("printf '%s' 'SEED|test|QUADRAT' | sha256sum   # the first 16 digits: test_number in quadrats.csv")
    radius = f" --radius {recipe.po_filter.radius_m:g}" if "po_train" in written else ""
    lines += [f"spatialsplit audit .{radius}     # the split keeps its promises", "```"]
    return "\n".join(lines)


def _terms(recipe: Recipe) -> str:
    about = recipe.about
    said = [
        ("Licence", about.license),
        ("Cite", about.citation),
        ("Creators", ", ".join(about.creators)),
        ("Version", about.version),
        ("Published", about.date_published),
        ("Page", about.url),
    ]
    lines = [f"- {name}: {text}" for name, text in said if text]
    return "\n".join(["## Terms", "", *lines]) if lines else ""
