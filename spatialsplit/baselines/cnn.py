"""A ResNet-50 on pictures: GeoLifeCLEF 2022's baselines on RGB and on red, green and near infrared.

Needs the extra `spatialsplit[cnn]`; torch is imported when a network is trained and not before. The network and its
weights stand in `cnn_weights`, the epochs in `cnn_training`, patch files in `spatialsplit.rasters.pictures`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from spatialsplit.baselines.cnn_pictures import PictureLoader
from spatialsplit.baselines.cnn_training import Sample, Training, predict, train
from spatialsplit.baselines.dataset import BuiltDataset, Integers, Surveys
from spatialsplit.baselines.ranking import best_first, by_frequency
from spatialsplit.errors import DataError, first_few
from spatialsplit.rasters.pictures import Channels, PatchFolder

__all__ = ["PatchNetwork", "Training"]


@dataclass
class PatchNetwork:
    """The baseline: ResNet-50 on the picture of each survey's place.

    Parameters
    ----------
    folder : path
        Of patches, in a layout that `PatchFolder` knows.
    channels : {'rgb', 'rgnir'}
        In 'rgnir' near infrared takes the place of blue.
    training : Training
        Weights to start from, learning rate, batches, stopping, checkpoint.
    source : {'surveys', 'records', 'both'}, optional
        As in `BuiltDataset.training`.
    file_ids : {'id', 'patchID'}, optional
        What the files are named by; where not given, that of the two by which more test pictures are found.
    allow_missing : bool
        Leave out training and validation surveys without a picture, and give test surveys without one the commonest
        species. Without it, a missing picture is an error that lists what is missing.
    depth : int
        The most species that a set may have.
    tell : function
        Called with a line an epoch.
    """

    folder: Path
    channels: Channels
    training: Training = field(default_factory=Training)
    source: str | None = None
    file_ids: Literal["id", "patchID"] | None = None
    allow_missing: bool = False
    depth: int = 200
    tell: Callable[[str], None] = lambda line: None
    _species: Integers = field(default_factory=lambda: np.zeros(0, np.int64), init=False)
    _commonest: Integers = field(default_factory=lambda: np.zeros(0, np.int64), init=False)
    _loader: PictureLoader | None = field(default=None, init=False)
    _network: Any = field(default=None, init=False)

    def fit(self, data: BuiltDataset) -> list[str]:
        """Train the network on the training surveys, stopping by the validation surveys."""
        folder = PatchFolder(self.folder)
        self.file_ids = self.file_ids or _likely_ids(folder, data.test)
        surveys, source = data.training(self.source)
        named = {f"training {source}": surveys, "validation surveys": data.val, "test surveys": data.test}
        kept = self._refuse_missing(folder, {name: group for name, group in named.items() if group is not None})
        surveys = surveys.take(kept[f"training {source}"])
        val = data.val.take(kept["validation surveys"]) if data.val is not None else None
        self._species, self._commonest = np.unique(surveys.species), by_frequency(surveys.species)
        self._loader = PictureLoader(folder, self.channels)
        self._network, notes = train(
            self._loader,
            self._samples(surveys),
            self._samples(val) if val else None,
            self._species,
            self.training,
            self.tell,
        )
        n_without = {name: int(np.count_nonzero(~there)) for name, there in kept.items()}
        notes += [f"{n:,} {name} have no picture." for name, n in n_without.items() if n]
        return [f"Trained on {len(surveys):,} pictures of the training {source}, {self.channels}.", *notes]

    def _samples(self, surveys: Surveys) -> list[Sample]:
        """Pair pictures with their species; one that training does not know has the number -1."""
        at = np.minimum(np.searchsorted(self._species, surveys.species), len(self._species) - 1)
        classes = np.where(self._species[at] == surveys.species, at, -1)
        ends = np.cumsum(surveys.n_species)[:-1]
        return [
            Sample(name, of_survey)
            for name, of_survey in zip(self._names(surveys), np.split(classes, ends), strict=True)
        ]

    def _names(self, surveys: Surveys) -> list[str]:
        names: list[str] = (surveys.patch_ids if self.file_ids == "patchID" else surveys.ids).tolist()
        return names

    def _refuse_missing(self, folder: PatchFolder, groups: dict[str, Surveys]) -> dict[str, Any]:
        """Say for each group which surveys have their pictures; refuse those without, unless they are allowed."""
        kept, problems = {}, []
        for name, surveys in groups.items():
            lacking = [folder.missing([each], self.channels) for each in self._names(surveys)]
            kept[name] = np.array([not files for files in lacking], dtype=bool)
            files = [file for survey in lacking for file in survey]
            if not any(self._names(surveys)):
                problems.append(
                    f"The {len(surveys):,} {name} have no surveyId and no patchID, so no picture can be found "
                    "for them. Learn from others: --train surveys."
                )
            elif files and (not self.allow_missing or not kept[name].any()):
                problems.append(
                    f"{len(files):,} pictures of {name} are missing in {self.folder} "
                    f"(first: {first_few(files)}). They are looked for by {self.file_ids}. {self._cure()}"
                )
        if problems:
            raise DataError(problems)
        return kept

    def _cure(self) -> str:
        if self.allow_missing:
            return "At least one must be there. Correct --patches, or say --patch-col."
        return "Fetch them, or say --allow-missing."

    def rank(self, surveys: Surveys, n_best: int) -> Integers:
        """Give the most probable species of each survey."""
        assert self._loader is not None  # fit has seen to it
        names = np.array(self._names(surveys), dtype=np.str_)
        there = np.array([not self._loader.folder.missing([name], self.channels) for name in names], dtype=bool)
        ranked = np.tile(self._commonest[:n_best], (len(surveys), 1))
        if there.any():
            scores = predict(self._loader, names[there].tolist(), self._network, self.training)
            ranked[there] = best_first(scores, self._species, n_best)
        return ranked


def _likely_ids(folder: PatchFolder, test: Surveys) -> Literal["id", "patchID"]:
    """Find out whether files are named by the survey's id or by patchID."""
    by_id, by_patch = (
        sum(folder.find(name) is not None for name in names.tolist()) for names in (test.ids, test.patch_ids)
    )
    return "patchID" if by_patch > by_id else "id"
