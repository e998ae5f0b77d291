"""Epochs: learn, look at the validation surveys, keep the best, stop when it gets no better, and go on after a break.

What is random in an epoch comes from the seed and the epoch's number, so training that was interrupted goes on exactly
as it would have without the break (on one kind of processor).
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spatialsplit.baselines.cnn_pictures import PictureLoader
from spatialsplit.baselines.cnn_weights import import_torch, new_network
from spatialsplit.baselines.ranking import Integers
from spatialsplit.errors import DataError, OutputError
from spatialsplit.publishing import check_writable

TOP_K = 30


@dataclass(frozen=True)
class Training:
    """How a network is trained; the numbers are GeoLifeCLEF 2022's.

    Parameters
    ----------
    weights : str
        `imagenet`, `none`, or a file: see `new_network`.
    learning_rate, momentum : float
        Of stochastic gradient descent with Nesterov's momentum.
    batch_size : int
    max_epochs : int
    patience : int
        Epochs without a better validation error after which training stops.
    seed : int
    checkpoint : path, optional
        Written after each epoch. Where the file is there, training goes on from it.
    device : str, optional
        Of torch; a graphics card where there is one.
    """

    weights: str = "imagenet"
    learning_rate: float = 0.01
    momentum: float = 0.9
    batch_size: int = 32
    max_epochs: int = 60
    patience: int = 5
    seed: int = 0
    checkpoint: Path | None = None
    device: str | None = None

    def on_device(self, torch: Any) -> str:
        """Give the device to train on."""
        return self.device or ("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(frozen=True)
class Sample:
    """A picture and its species, as class numbers; -1 for one that training does not know."""

    name: str
    classes: Integers


@dataclass
class _State:
    """Where training stands after an epoch."""

    epoch: int = 0
    best_error: float = float("inf")
    best_epoch: int = 0
    best: Any = None
    errors: list[float] = field(default_factory=list)


def train(
    loader: PictureLoader,
    training_set: Sequence[Sample],
    validation: Sequence[Sample] | None,
    species: Integers,
    rules: Training,
    tell: Callable[[str], None],
) -> tuple[Any, list[str]]:
    """Train a network.

    A survey of several species is one picture whose probability is shared equally among them.

    Parameters
    ----------
    loader : PictureLoader
    training_set : sequence of Sample
    validation : sequence of Sample, optional
        Stop by their top-30 error; without them all epochs are run and the last network is taken.
    species : array of int
        The outputs of the network.
    rules : Training
    tell : function
        Called with a line an epoch.

    Returns
    -------
    network
        That of the best epoch.
    notes : list of str

    Raises
    ------
    DataError
        There are fewer than two pictures, weights are not to be had, the checkpoint is that of another training, or
        the loss is no finite number.
    OutputError
        The checkpoint cannot be written.
    """
    if len(training_set) < 2:
        raise DataError(f"A network needs at least two pictures to learn from, and has {len(training_set)}.")
    torch = import_torch()
    device = rules.on_device(torch)
    network = new_network(len(species), rules.weights, rules.seed).to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=rules.learning_rate, momentum=rules.momentum, nesterov=True)
    kept = _Checkpoint(rules, _fingerprint(loader, training_set, validation, species, rules))
    state = kept.load(torch, network, optimizer, device) or _State()
    while state.epoch < rules.max_epochs and state.epoch - state.best_epoch < rules.patience:
        state.epoch += 1
        loss = _epoch(torch, network, optimizer, loader, training_set, rules, state.epoch)
        if not math.isfinite(loss):
            raise DataError(
                f"Training diverged in epoch {state.epoch}: its loss is {loss}. A network learns from finite numbers. "
                "Start from other --weights, or with another --seed."
            )
        error = _validation_error(loader, validation, network, rules)
        _judge(state, network, error)
        kept.save(torch, network, optimizer, state)
        shown = f", validation top-{TOP_K} error {error:.4f}" if error is not None else ""
        tell(f"epoch {state.epoch}: loss {loss:.4f}{shown}{' (best)' if state.best_epoch == state.epoch else ''}")
    network.load_state_dict(state.best)
    return network, _notes(state, rules, validation is not None)


def _judge(state: _State, network: Any, error: float | None) -> None:
    """Keep the network where it is the best so far; without validation surveys the newest is."""
    if error is not None:
        state.errors.append(error)
    if error is None or error < state.best_error:
        state.best_error = error if error is not None else state.best_error
        state.best_epoch = state.epoch
        state.best = copy.deepcopy(network.state_dict())


def _notes(state: _State, rules: Training, has_validation: bool) -> list[str]:
    if not has_validation:
        return [f"No validation surveys to stop by: the network is that of epoch {state.epoch}, the last."]
    why = "the last allowed" if state.epoch >= rules.max_epochs else f"{rules.patience} without a better one"
    return [
        f"The network is that of epoch {state.best_epoch} of {state.epoch} ({why}), "
        f"with a validation top-{TOP_K} error of {state.best_error:.4f}."
    ]


def _epoch(
    torch: Any,
    network: Any,
    optimizer: Any,
    loader: PictureLoader,
    samples: Sequence[Sample],
    rules: Training,
    number: int,
) -> float:
    """Show all pictures once; give the mean loss."""
    rng = np.random.default_rng([rules.seed, number])
    network.train()
    device, losses = rules.on_device(torch), []
    for batch in _batches(rng.permutation(len(samples)), rules.batch_size):
        pictures = torch.from_numpy(loader.load([samples[each].name for each in batch], rng)).to(device)
        logs = torch.log_softmax(network(pictures), dim=1)
        loss = -torch.stack(
            [logs[row, torch.as_tensor(samples[each].classes)].mean() for row, each in enumerate(batch)]
        ).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()) * len(batch))
    return sum(losses) / len(samples)


def _batches(order: npt.NDArray[np.int64], batch_size: int) -> Iterator[list[int]]:
    """Cut into batches of nearly equal size: one of a single picture would have no spread to normalize by."""
    for part in np.array_split(order, -(-len(order) // batch_size)):
        yield part.tolist()


def _validation_error(
    loader: PictureLoader, samples: Sequence[Sample] | None, network: Any, rules: Training
) -> float | None:
    """Give the share of labels that are not among the 30 best of their picture."""
    if not samples:
        return None
    scores = predict(loader, [sample.name for sample in samples], network, rules)
    n_best = min(TOP_K, scores.shape[1])
    best = np.argpartition(-scores, n_best - 1, axis=1)[:, :n_best]
    missed = [~np.isin(sample.classes, row) for sample, row in zip(samples, best, strict=True)]
    return float(np.concatenate(missed).mean())


def predict(loader: PictureLoader, names: Sequence[str], network: Any, rules: Training) -> npt.NDArray[np.float32]:
    """Give the network's number for each picture and species: the larger, the more probable.

    Returns
    -------
    array of float32, shape (n, n_species)
    """
    torch = import_torch()
    device = rules.on_device(torch)
    network.eval()
    parts = []
    with torch.no_grad():
        for start in range(0, len(names), rules.batch_size):
            pictures = torch.from_numpy(loader.load(names[start : start + rules.batch_size])).to(device)
            parts.append(network(pictures).cpu().numpy())
    return np.concatenate(parts)


def _fingerprint(
    loader: PictureLoader,
    training_set: Sequence[Sample],
    validation: Sequence[Sample] | None,
    species: Integers,
    rules: Training,
) -> str:
    """Name what is being trained; a checkpoint of anything else must not be taken up."""
    said = [loader.channels, rules.weights, rules.learning_rate, rules.momentum, rules.batch_size, rules.seed]
    samples = [
        [(sample.name, sample.classes.tolist()) for sample in group] for group in (training_set, validation or ())
    ]
    content = json.dumps([said, species.tolist(), samples])
    return hashlib.sha256(content.encode()).hexdigest()


class _Checkpoint:
    """The file that training goes on from, if there is to be one."""

    def __init__(self, rules: Training, fingerprint: str):
        self._path = rules.checkpoint
        if self._path is not None:
            check_writable(self._path)
        self._fingerprint = fingerprint

    def load(self, torch: Any, network: Any, optimizer: Any, device: str) -> _State | None:
        """Read the last state of a training that was stopped, or nothing where there is none."""
        if self._path is None or not self._path.exists():
            return None
        try:
            content = torch.load(self._path, map_location=device, weights_only=True)
            fingerprint = content["fingerprint"]
        except Exception as error:  # torch names no common class for what a bad file raises
            text = str(error).splitlines()[0].split(". ")[0]  # torch goes on with advice for those who trust the file
            raise DataError(
                f"{self._path} is no checkpoint of a training ({text}). Remove it, or name another."
            ) from None
        if fingerprint != self._fingerprint:
            raise DataError(
                f"{self._path} is the checkpoint of another training: other data, channels, seed or settings. "
                "Remove it, or name another."
            )
        network.load_state_dict(content["network"])
        optimizer.load_state_dict(content["optimizer"])
        return _State(**content["state"])

    def save(self, torch: Any, network: Any, optimizer: Any, state: _State) -> None:
        """Write the state after an epoch, so that a stopped training goes on from it."""
        if self._path is None:
            return
        unfinished = self._path.with_name(f".{self._path.name}")
        content = {
            "fingerprint": self._fingerprint,
            "network": network.state_dict(),
            "optimizer": optimizer.state_dict(),
            "state": vars(state),
        }
        try:
            torch.save(content, unfinished)
        except (OSError, RuntimeError) as error:  # torch's own for a full disk
            with suppress(OSError):
                unfinished.unlink()
            raise OutputError(
                f"Cannot write the checkpoint {self._path} ({str(error).splitlines()[0]}). The one before it is whole. "
                "Make room, or choose another --checkpoint."
            ) from None
        os.replace(unfinished, self._path)
