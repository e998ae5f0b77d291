"""The command `build`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from spatialsplit.build import AuditFailed, BuildOptions, BuildReport, build_dataset
from spatialsplit.cli import CHECK_FAILED
from spatialsplit.cli.options import engine_of, engine_options
from spatialsplit.cli.progress import progress_bar


@click.command()
@click.argument("recipe", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The dataset folder to make.")
@click.option("--force", is_flag=True, help="Replace a dataset that is there already.")
@click.option(
    "--threads", type=click.IntRange(min=1), help="Threads to use; all processors unless said. The dataset is the same."
)
@engine_options
def build(recipe: Path, out: Path, force: bool, threads: int | None, engine_name: str, scheduler: str | None) -> None:
    """Build a dataset from RECIPE, audit it, and publish it into a folder.

    The folder appears when everything is written and the audit has passed, and not before.

    Example:  spatialsplit build flora/recipe.toml --out dataset
    """
    try:
        with engine_of(engine_name, scheduler, threads) as engine, progress_bar("presence-only records") as on_progress:
            options = BuildOptions(force, threads, on_progress=on_progress, engine=engine)
            report = build_dataset(recipe, out, options)
    except AuditFailed as error:
        for problem in error.problems:
            click.echo(problem, err=True)
        sys.exit(CHECK_FAILED)
    for warning in report.manifest["warnings"]:
        click.echo(f"Warning: {warning}", err=True)
    click.echo(summary(report))


def summary(report: BuildReport) -> str:
    """Say in a short table what came out and where."""
    lines = [f"Published {report.folder}", "", f"  {'file':<40}{'rows':>12}{'bytes':>16}"]
    for name, entry in report.manifest["outputs"].items():
        rows = f"{entry['rows']:,}" if "rows" in entry else ""
        lines.append(f"  {name:<40}{rows:>12}{entry['bytes']:>16,}")
    lines += ["", f"  {'step':<24}{'in':>12}{'kept':>12}  dropped"]
    for step in report.manifest["steps"]:
        dropped = ", ".join(f"{reason} {count:,}" for reason, count in step["dropped"].items())
        lines.append(f"  {step['step']:<24}{step['in']:>12,}{step['kept']:>12,}  {dropped}".rstrip())
    lines.append("")
    for holdout in report.manifest["draw"]["holdouts"]:
        lines.append(
            f"  {holdout['name']}: {holdout['drawn']:,} of {holdout['free']:,} quadrats, "
            f"{holdout['surveys_drawn']:,} of "
            f"{holdout['surveys_free']:,} surveys"
        )
    draw = report.manifest["draw"]
    if draw["attempt"] is not None:
        lines.append(
            f"  kept attempt {draw['attempt']} of {report.manifest['recipe']['draw']['attempts']}, imbalance "
            f"{draw['objective']:g}"
        )
    lines += ["", "Scores of submissions of known quality:", *(f"  {line}" for line in report.launch.lines())]
    checks = report.audit.checks_as_dicts()
    passed = sum(check["passed"] is True for check in checks)
    skipped = [check["name"] for check in checks if check["passed"] is None]
    not_run = f"; not run: {', '.join(skipped)}" if skipped else ""
    lines += [
        "",
        f"Audit: {passed} of {len(checks)} checks passed{not_run}.",
        f"Next:  spatialsplit audit {report.folder}",
    ]
    return "\n".join(lines)
