"""The commands `check-submission` and `score`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from spatialsplit.errors import SolutionError, SubmissionError
from spatialsplit.metrics.labels import EMPTY_TRUTH, ON_EXCESS
from spatialsplit.metrics.ranking import DUPLICATES
from spatialsplit.metrics.strings import MATCHINGS
from spatialsplit.submission import scoring
from spatialsplit.submission.settings import COLUMN_OPTIONS, TASKS, option_types

FILE = click.Path(exists=True, dir_okay=False)
OPTIONS = [
    click.option("--metric", type=click.Choice(list(TASKS)), required=True, help="The competition's metric."),
    click.option("--solution", type=FILE, required=True, help="CSV with the truth."),
    click.option("--submission", type=FILE, required=True, help="CSV as it would be sent."),
    click.option("--empty-truth", type=click.Choice(EMPTY_TRUTH), help="Rule for rows without a true label."),
    click.option("--require-sorted", is_flag=True, default=None, help="Labels must be strictly increasing."),
    click.option("--labels", type=click.Choice(["int", "str"]), help="Kind of the labels (int)."),
    click.option("--beta", type=float, help="Weight of recall in the F score."),
    click.option("--k", type=int, help="Candidates that count in top_k_error (30)."),
    click.option("--on-excess", type=click.Choice(ON_EXCESS), help="What more than k candidates are."),
    click.option("--exact-k", is_flag=True, default=None, help="Refuse fewer than k candidates."),
    click.option("--duplicates", type=click.Choice(DUPLICATES), help="What a repeated label is in fathomnet."),
    click.option("--matching", type=click.Choice(list(MATCHINGS)), help="How strings meet in jaccard_fbeta."),
    click.option("--clean-predictions", is_flag=True, default=None, help="Clean predicted strings as the truth."),
    click.option("--id-col", help="Name of the id column, where it is not a known one."),
    click.option("--sol-col", help="Name of the truth's column in the solution."),
    click.option("--sub-col", help="Name of the prediction's column in the submission."),
]


def metric_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of all metrics."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command(name="check-submission")
@metric_options
def check_submission(metric: str, solution: str, submission: str, **options: Any) -> None:
    """List every fault of a submission: line, id, column and token of each, ten of a kind.

    SOLUTION may be a blinded test table. Exit code 0: nothing to mend; 1: faults, one a line on stderr.

    Example:  spatialsplit check-submission --metric f1_samples --solution test_blind.csv --submission mine.csv
    """
    with _named_faults(solution, submission):
        notes = scoring.check_submission(solution, submission, metric, **_given(metric, options))
    _tell(notes, submission)
    click.echo(f"{submission}: no faults.")


@click.command(name="score")
@metric_options
@click.option("--groups", type=FILE, help="CSV with the id column and quadratId, for the interval.")
@click.option("--resamples", type=click.IntRange(min=0), default=1000, show_default=True, help="0: no interval.")
@click.option("--seed", default="0", show_default=True, help="Seed of the resampling.")
@click.option("--per-row", type=click.Path(dir_okay=False), help="Write the numbers of each row (organizers only).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def score(metric: str, solution: str, submission: str, as_json: bool, per_row: str | None, **options: Any) -> None:
    """Score a submission: all rows, the Public and the Private ones, with a 95 % interval.

    The solution may have a column Usage, and a column quadratId, or --groups names a table of it: the interval then
    resamples whole quadrats.

    Example:  spatialsplit score --metric f1_samples --solution dataset/private/solution.csv --submission mine.csv
    """
    own = {name: options.pop(name) for name in ("groups", "resamples", "seed")}
    with _named_faults(solution, submission):
        result = scoring.score(solution, submission, metric, **own, **_given(metric, options))
    if per_row:
        scoring.write_per_row(result, per_row)
    if as_json:
        click.echo(json.dumps(result.as_dict(), allow_nan=False))
    else:
        _tell(result.notes, submission)
        click.echo(_table(result))


def _given(metric: str, options: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in option_types(metric) and name not in COLUMN_OPTIONS:
            raise click.UsageError(f"--{name.replace('_', '-')} does not belong to the metric {metric}.")
    return given


@contextmanager
def _named_faults(solution: str, submission: str) -> Iterator[None]:
    """Put the file's name before each fault, for a person with two files at hand."""
    try:
        yield
    except SubmissionError as error:
        raise SubmissionError(f"{submission}: {problem}" for problem in error.problems) from None
    except SolutionError as error:
        raise SolutionError(f"{solution} (solution): {problem}" for problem in error.problems) from None


def _tell(notes: tuple[str, ...], submission: str) -> None:
    for note in notes:
        click.echo(f"{submission}: note: {note}", err=True)


def _table(result: scoring.Score) -> str:
    direction = "higher" if result.higher_is_better else "lower"
    lines = [f"{result.metric} ({direction} is better)"]
    parts = [("All", result.score, result.n), ("Public", result.public, result.n_public)]
    for name, value, n_rows in [*parts, ("Private", result.private, result.n_private)]:
        if value is not None:
            lines.append(f"{name:<8} {value:.6f}  {n_rows:>9,} row{'s' if n_rows > 1 else ''}")
    interval = result.interval
    if interval:
        unit = f"{interval.n_units:,} {'rows' if interval.unit == 'row' else 'quadrats'}"
        made = f"{interval.resamples:,} resamples of {unit}, seed {interval.seed}"
        lines.append(f"95 % interval of All: {interval.low:.6f} to {interval.high:.6f} ({made})")
    return "\n".join(lines)
