"""torch, the network, and the weights that it starts from."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from spatialsplit.errors import DataError


def import_torch() -> Any:
    """Import torch.

    Raises
    ------
    DataError
        It is not installed, or does not work.
    """
    return _import("torch")


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except (ImportError, RuntimeError, OSError) as error:
        raise DataError(
            f"The networks need {name}, which cannot be imported ({error}). Install the extra: "
            "pip install 'spatialsplit[cnn]'."
        ) from None


def new_network(n_species: int, weights: str, seed: int) -> Any:
    """Make a ResNet-50 with an output for each species.

    Parameters
    ----------
    n_species : int
    weights : str
        `imagenet`: torchvision's IMAGENET1K_V1, from its cache or, where it is not there, downloaded; `none`: random
        numbers; else a file with a state dict of torchvision's resnet50. The last layer is always new.
    seed : int
        Of the random numbers.

    Raises
    ------
    DataError
        The weights cannot be had, or are not those of a ResNet-50.
    """
    torch, models = import_torch(), _import("torchvision.models")
    state = None if weights == "none" else _imagenet(torch, models) if weights == "imagenet" else _read(torch, weights)
    torch.manual_seed(seed)
    network = models.resnet50(weights=None, num_classes=n_species)
    if state is not None:
        body = {name: value for name, value in state.items() if not name.startswith("fc.")}
        try:
            lacking, strangers = network.load_state_dict(body, strict=False)
        except RuntimeError as error:
            raise DataError(_unfit(weights, str(error).splitlines()[-1].strip())) from None
        if set(lacking) != {"fc.weight", "fc.bias"} or strangers:
            raise DataError(_unfit(weights, f"{len(lacking)} parameters lack and {len(strangers)} are unknown"))
    return network


def _unfit(weights: str, why: str) -> str:
    return (
        f"The weights {weights} are not those of a ResNet-50 ({why}). They must be a state dict of torchvision's "
        "resnet50. Give another file, or say --weights none."
    )


def _imagenet(torch: Any, models: Any) -> Any:
    weights = models.ResNet50_Weights.IMAGENET1K_V1
    try:
        return weights.get_state_dict(progress=False, check_hash=True)
    except (OSError, RuntimeError) as error:  # urllib's errors are OSErrors; a wrong hash is a RuntimeError
        name = weights.url.rsplit("/", 1)[-1]
        cache = Path(torch.hub.get_dir()) / "checkpoints" / name
        raise DataError(
            f"ImageNet's weights are not in torchvision's cache and cannot be downloaded from {weights.url} ({error}). "
            f"Put that file at {cache}, name a copy of it with --weights FILE, or start from random numbers with "
            "--weights none."
        ) from None


def _read(torch: Any, path: str) -> Any:
    if not Path(path).is_file():
        raise DataError(f"There is no file of weights {path}. --weights is imagenet, none or a file.")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch names no common class for what a bad file raises
        raise DataError(_unfit(path, str(error).splitlines()[0])) from None
    if not isinstance(state, dict):
        raise DataError(_unfit(path, f"it holds a {type(state).__name__}"))
    return state
