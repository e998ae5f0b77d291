"""One baseline, from a built dataset to a checked submission with its validation score.

A model ranks species; how many of them are predicted is chosen here, by the metric: for `f1_samples` the K with the
best F1 on the validation surveys, for `top_k_error` the k of the metric (30).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from spatialsplit.baselines.dataset import ID_COLUMNS, BuiltDataset, Integers, Surveys
from spatialsplit.baselines.ranking import SizeCurve, places_in_one_ranking, places_in_rankings, size_curve
from spatialsplit.errors import DataError, first_few
from spatialsplit.metrics import f1_samples, top_k_error
from spatialsplit.publishing import check_writable, new_files
from spatialsplit.submission import write_submission

TOP_K = 30
ALL = 1 << 62


class Model(Protocol):
    """What a baseline does: learn from surveys, rank species for others."""

    @property
    def depth(self) -> int | None:
        """The most species that its sets may have, every size up to it being tried.

        None where all surveys get the same species, of which there may then be any number.
        """

    def fit(self, data: BuiltDataset) -> list[str]:
        """Learn from the training data, and give what a person should know of it."""

    def rank(self, surveys: Surveys, n_best: int) -> Integers:
        """Give the most probable species of each survey, best first."""


@dataclass(frozen=True)
class BaselineRun:
    """What a baseline did.

    Attributes
    ----------
    name, metric : str
    n_predicted : int
        Species in each set.
    validation : float, optional
        The score on the validation surveys; None where the dataset has none.
    n_validation, n_test : int
        Surveys.
    curve : SizeCurve, optional
        F1 by the size of the sets, where the size was chosen.
    notes : list of str
    """

    name: str
    metric: str
    n_predicted: int
    validation: float | None
    n_validation: int
    n_test: int
    curve: SizeCurve | None = None
    notes: list[str] = field(default_factory=list)


def run_baseline(
    name: str,
    model: Model,
    data: BuiltDataset,
    out: Path | str,
    *,
    metric: str | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> BaselineRun:
    """Fit a model, choose the size of its sets, and write a submission for every test survey.

    Parameters
    ----------
    name : str
        For messages.
    model : Model
    data : BuiltDataset
    out : path
        The submission: the columns and ids of the dataset's own sample.
    metric : {'f1_samples', 'top_k_error'}, optional
        That of the dataset's manifest where not given.
    tell : function
        Called with what is being done.

    Returns
    -------
    BaselineRun

    Raises
    ------
    DataError
        The dataset lacks what the model needs, or the metric is not one of the two.
    OutputError
        The submission could not be written; said before the work.
    """
    options = data.metric_options if metric in (None, data.metric) else {}
    metric = metric or data.metric
    if metric not in ("f1_samples", "top_k_error"):
        raise DataError(f"Unknown metric '{metric}' for a baseline. Known: f1_samples, top_k_error.")
    check_writable(Path(out))
    ids = _test_ids(data)
    tell(f"{name}: reading {data.public}")
    notes = model.fit(data)
    if metric == "f1_samples":
        n_predicted, curve, validation, more = _by_f1(model, data)
    else:
        n_predicted, curve = int(options.get("k", TOP_K)), None
        validation, more = _top_k(model, data, n_predicted)
    tell(f"{name}: predicting {len(data.test):,} test surveys")
    rankings = model.rank(data.test, n_predicted)
    predictions = dict(zip(ids, rankings.tolist(), strict=True))
    with new_files(Path(out)) as (part,):
        write_submission(part, predictions, test=data.path("pa_test_blind"), metric=metric, **options)
    n_val = len(data.val) if data.val is not None else 0
    n_predicted = rankings.shape[1]  # no more than there are species
    return BaselineRun(name, metric, n_predicted, validation, n_val, len(data.test), curve, [*notes, *more])


def _by_f1(model: Model, data: BuiltDataset) -> tuple[int, SizeCurve, float | None, list[str]]:
    """Choose the size of the sets by F1, on the validation surveys or, where there are none, on training ones."""
    judged, notes = data.val, []
    if judged is None:
        judged, source = data.training()
        notes = [f"No validation surveys: the size of the sets was chosen on the training {source}, and has no score."]
    judged = judged.take(judged.n_species > 0)
    rankings = model.rank(judged, model.depth or ALL)
    if model.depth is None:
        places = places_in_one_ranking(rankings[0], judged.species)
    else:
        places = places_in_rankings(rankings, judged.row, judged.species)
    curve = size_curve(places, judged.row, judged.n_species, rankings.shape[1])
    if data.val is None:
        return curve.best_size, curve, None, notes
    predicted = rankings[:, : curve.best_size].tolist()
    return curve.best_size, curve, f1_samples(judged.labels(), predicted), notes


def _top_k(model: Model, data: BuiltDataset, k: int) -> tuple[float | None, list[str]]:
    """Score k candidates on the validation surveys; one with several species counts once for each."""
    if data.val is None:
        return None, ["No validation surveys, so no validation score."]
    rankings = model.rank(data.val, k)
    predicted = [rankings[row].tolist() for row in data.val.row]
    return top_k_error(data.val.species.tolist(), predicted, k=k), []


def _test_ids(data: BuiltDataset) -> list[int]:
    bad = [text for text in data.test.ids.tolist() if not re.fullmatch(r"-?[0-9]+", text)]
    if bad:
        raise DataError(
            f"Invalid id in {len(bad):,} of {len(data.test):,} test surveys of {data.path('pa_test_blind').name} "
            f"(first: {first_few(map(repr, bad))}). Ids are whole numbers in a column {' or '.join(ID_COLUMNS)}. "
            "Build the dataset again."
        )
    return [int(text) for text in data.test.ids]
