"""The networks: pictures in, a legal submission out; what needs torch is skipped where it is not installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any
from urllib.error import URLError

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from spatialsplit.baselines import cnn_training
from spatialsplit.baselines.cnn import PatchNetwork
from spatialsplit.baselines.cnn_pictures import MEAN, SPREAD, PictureLoader
from spatialsplit.baselines.cnn_training import Sample, Training, predict, train
from spatialsplit.baselines.cnn_weights import new_network
from spatialsplit.baselines.dataset import BuiltDataset
from spatialsplit.cli.baselines import baseline
from spatialsplit.errors import DataError, OutputError
from spatialsplit.rasters import PatchFolder, patch_path
from spatialsplit.submission import check_submission
from tests.real_data import data_folder

HAS_TORCH = importlib.util.find_spec("torch") is not None and importlib.util.find_spec("torchvision") is not None
needs_torch = pytest.mark.skipif(not HAS_TORCH, reason="torch and torchvision are not installed: spatialsplit[cnn]")

QUICK = Training(weights="none", max_epochs=2, batch_size=4, device="cpu")


def write_picture(folder: Path, name: int, colour: tuple[int, ...], size: int = 32) -> None:
    """Write a picture of one colour with some noise: red, green, blue and near infrared."""
    path = folder / patch_path(name, ".png")
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(name).integers(-20, 20, (size, size, 4))
    Image.fromarray(np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8)).save(path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write a dataset in which species 10 and up grow where near infrared is high, the others where it is low."""
    public = tmp_path / "data" / "public"
    public.mkdir(parents=True)
    header = "surveyId,lon,lat"
    rows: dict[str, list[str]] = {"PA_train": [], "PA_val": [], "PA_test_blind": []}
    for number in range(1, 15):
        is_bright = number % 2
        write_picture(tmp_path / "patches", number, (90, 120, 60, 220 if is_bright else 20))
        part = "PA_train" if number <= 8 else "PA_val" if number <= 11 else "PA_test_blind"
        species = (10, 11) if is_bright else (1, 2)
        rows[part] += [f"{number},8,51,{each}" for each in species] if part != "PA_test_blind" else [f"{number},8,51"]
    for part, lines in rows.items():
        first = header if part == "PA_test_blind" else f"{header},speciesId"
        (public / f"{part}.csv").write_text("\n".join([first, *lines, ""]))
    return tmp_path / "data"


class TestPictures:
    """What the network sees."""

    def test_channels_are_normalized_as_imagenets_were(self, tmp_path: Path) -> None:
        write_picture(tmp_path, 7, (255, 0, 0, 255))
        folder = PatchFolder(tmp_path)
        rgb, rgnir = (PictureLoader(folder, channels).load(["7"]) for channels in ("rgb", "rgnir"))
        assert (rgb.shape, rgb.dtype) == ((1, 3, 32, 32), np.float32)
        raw = folder.read("7")
        np.testing.assert_allclose(rgb[0] * SPREAD + MEAN, raw[:3] / 255, atol=1e-6)
        np.testing.assert_allclose(rgnir[0] * SPREAD + MEAN, raw[[0, 1, 3]] / 255, atol=1e-6)

    def test_training_turns_and_crops_and_prediction_takes_the_middle(self, tmp_path: Path) -> None:
        write_picture(tmp_path, 7, (100, 100, 100, 0), size=240)
        loader = PictureLoader(PatchFolder(tmp_path), "rgb")
        middle = PatchFolder(tmp_path).read("7")[:3, 8:232, 8:232]
        np.testing.assert_allclose(loader.load(["7"])[0] * SPREAD + MEAN, middle / 255, atol=1e-6)
        first, again, other = (loader.load(["7"], np.random.default_rng(seed)) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert first.shape == (1, 3, 224, 224)
        assert not np.array_equal(first, other)

    def test_pictures_of_two_sizes_are_refused(self, tmp_path: Path) -> None:
        write_picture(tmp_path, 7, (1, 1, 1, 1), size=16)
        write_picture(tmp_path, 8, (1, 1, 1, 1), size=32)
        with pytest.raises(DataError, match=r"differ in size: \(16, 16\) and \(32, 32\)"):
            PictureLoader(PatchFolder(tmp_path), "rgb").load(["7", "8"])

    def test_geolifeclefs_own_pictures_load(self) -> None:
        loader = PictureLoader(PatchFolder(data_folder() / "glc22_sample"), "rgnir")
        assert loader.load(["10561985", "20000173"]).shape == (2, 3, 224, 224)


class TestWithoutTorch:
    """What is said before anything is learnt."""

    def test_missing_pictures_are_listed(self, data: Path, tmp_path: Path) -> None:
        for number in (2, 9, 14):
            (tmp_path / "patches" / patch_path(number, ".png")).unlink()
        with pytest.raises(DataError) as raised:
            PatchNetwork(tmp_path / "patches", "rgb", QUICK).fit(BuiltDataset(data))
        assert [problem.split(" in ")[0] for problem in raised.value.problems] == [
            "1 pictures of training surveys are missing",
            "1 pictures of validation surveys are missing",
            "1 pictures of test surveys are missing",
        ]
        assert "(first: 9 (rgb))" in raised.value.problems[1]
        (tmp_path / "nothing").mkdir()
        with pytest.raises(DataError) as raised:
            PatchNetwork(tmp_path / "nothing", "rgb", QUICK, allow_missing=True).fit(BuiltDataset(data))
        assert raised.value.problems[0].endswith("At least one must be there. Correct --patches, or say --patch-col.")

    def test_records_without_an_id_have_no_pictures_to_look_for(self, data: Path, tmp_path: Path) -> None:
        (data / "public" / "PO_train.csv").write_text("glcID,lon,lat,speciesId\n1,8,51,10\n2,8,51,1\n")
        with pytest.raises(DataError, match=r"The 2 training records have no surveyId.*--train surveys") as raised:
            PatchNetwork(tmp_path / "patches", "rgb", QUICK, source="records").fit(BuiltDataset(data))
        assert len(raised.value.problems) == 1

    @pytest.mark.skipif(HAS_TORCH, reason="torch is installed")
    def test_without_torch_the_extra_is_named(self, data: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"need torch.*pip install 'spatialsplit\[cnn\]'"):
            PatchNetwork(tmp_path / "patches", "rgb", QUICK).fit(BuiltDataset(data))

    def test_no_folder_of_pictures_is_a_usage_error(self, data: Path, tmp_path: Path) -> None:
        arguments = ["cnn-rgb", "--data", str(data), "--out", str(tmp_path / "out.csv")]
        result = CliRunner().invoke(baseline, arguments)
        assert result.exit_code == 2
        assert "--patches DIR" in result.stderr


@needs_torch
class TestTraining:
    """A tiny set, on the processor, from random weights."""

    @pytest.fixture
    def samples(self, tmp_path: Path) -> tuple[PictureLoader, list[Sample], list[Sample]]:
        for number in range(8):
            write_picture(tmp_path / "patches", number, (200 if number % 2 else 20, 90, 90, 0))
        both = [Sample(str(number), np.array([number % 2])) for number in range(8)]
        return PictureLoader(PatchFolder(tmp_path / "patches"), "rgb"), both[:6], both[6:]

    def scores(self, loader: PictureLoader, network: Any) -> Any:
        return predict(loader, [str(number) for number in range(8)], network, QUICK)

    def test_it_stops_when_the_validation_error_gets_no_better(self, samples: Any) -> None:
        """Species that training does not know are never hit: the first epoch stays the best, and patience runs out."""
        loader, training, _ = samples
        lines: list[str] = []
        unknown = [Sample("7", np.array([-1]))]
        rules = Training(weights="none", max_epochs=9, patience=1, batch_size=4, device="cpu")
        _, notes = train(loader, training, unknown, np.array([3, 5]), rules, lines.append)
        assert [line.split(":")[0] for line in lines] == ["epoch 1", "epoch 2"]
        assert lines[0].endswith("validation top-30 error 1.0000 (best)")
        assert notes == [
            "The network is that of epoch 1 of 2 (1 without a better one), with a validation top-30 error of 1.0000."
        ]

    def test_the_best_epoch_is_the_one_that_is_kept(self, samples: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        loader, training, validation = samples
        errors, states = iter([0.5, 0.25, 0.75]), []

        def error_and_scores(*arguments: Any) -> float:
            states.append(self.scores(loader, arguments[2]))
            return next(errors)

        monkeypatch.setattr(cnn_training, "_validation_error", error_and_scores)
        rules = Training(weights="none", max_epochs=3, batch_size=4, device="cpu")
        network, _ = train(loader, training, validation, np.array([3, 5]), rules, lambda line: None)
        np.testing.assert_allclose(self.scores(loader, network), states[1], rtol=1e-5)
        assert not np.allclose(states[1], states[2])

    def test_after_a_break_training_goes_on_as_if_there_had_been_none(self, samples: Any, tmp_path: Path) -> None:
        loader, training, validation = samples
        results = []
        for epochs in ((2,), (1, 2)):
            checkpoint = tmp_path / f"{len(epochs)}.pt"
            for max_epochs in epochs:
                lines: list[str] = []
                rules = Training(
                    "none", max_epochs=max_epochs, batch_size=4, checkpoint=checkpoint, device="cpu", seed=5
                )
                network, _ = train(loader, training, None, np.array([3, 5]), rules, lines.append)
            results.append(self.scores(loader, network))
        assert [line.split(":")[0] for line in lines] == ["epoch 2"]
        np.testing.assert_allclose(results[0], results[1], rtol=1e-5)
        for judged, species in ((None, [3, 6]), (validation, [3, 5])):
            with pytest.raises(DataError, match="checkpoint of another training"):
                train(loader, training, judged, np.array(species), rules, lines.append)
        checkpoint.write_bytes(b"nothing")
        with pytest.raises(DataError, match="is no checkpoint of a training"):
            train(loader, training, validation, np.array([3, 5]), rules, lines.append)

    def test_a_checkpoint_that_cannot_be_written_is_refused_before_the_work(self, samples: Any, tmp_path: Path) -> None:
        loader, training, _ = samples
        (tmp_path / "file").write_text("")
        lines: list[str] = []
        rules = Training("none", max_epochs=1, checkpoint=tmp_path / "file" / "c.pt", device="cpu")
        with pytest.raises(OutputError, match=r"Cannot write .*c\.pt"):
            train(loader, training, None, np.array([3, 5]), rules, lines.append)
        assert not lines

    def test_a_checkpoint_on_a_full_disk_leaves_the_one_before(
        self, samples: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import torch

        def full(content: Any, path: Path) -> None:
            path.write_bytes(b"half")
            raise RuntimeError("PytorchStreamWriter failed writing file")

        loader, training, _ = samples
        first, second = (
            Training("none", max_epochs=n, batch_size=4, checkpoint=tmp_path / "c.pt", device="cpu") for n in (1, 2)
        )
        train(loader, training, None, np.array([3, 5]), first, lambda line: None)
        whole = (tmp_path / "c.pt").read_bytes()
        monkeypatch.setattr(torch, "save", full)
        with pytest.raises(OutputError, match=r"Cannot write the checkpoint .*c\.pt \(Pytorch.*The one before it"):
            train(loader, training, None, np.array([3, 5]), second, lambda line: None)
        assert [path.name for path in tmp_path.glob("*c.pt")] == ["c.pt"]
        assert (tmp_path / "c.pt").read_bytes() == whole

    def test_training_that_diverges_is_an_error(self, samples: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its network would rank nothing, and say so by a traceback when all is done."""
        loader, training, validation = samples
        monkeypatch.setattr(cnn_training, "_epoch", lambda *arguments: float("nan"))
        with pytest.raises(DataError, match="diverged in epoch 1: its loss is nan"):
            train(loader, training, validation, np.array([3, 5]), QUICK, lambda line: None)

    def test_the_seed_says_all(self, samples: Any) -> None:
        loader, training, _ = samples
        first, again, other = (
            self.scores(loader, train(loader, training, None, np.array([3, 5]), rules, lambda line: None)[0])
            for rules in (Training("none", max_epochs=1, seed=seed, device="cpu") for seed in (1, 1, 2))
        )
        np.testing.assert_allclose(first, again, rtol=1e-5)
        assert not np.allclose(first, other)

    def test_the_error_counts_the_labels_that_are_not_among_the_best(
        self, samples: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loader, _, _ = samples
        scores = np.array([[0.0, 3.0, 2.0], [5.0, 4.0, 0.0]], dtype=np.float32)
        monkeypatch.setattr(cnn_training, "predict", lambda *arguments: scores)
        monkeypatch.setattr(cnn_training, "TOP_K", 2)
        judged = [Sample("1", np.array([0, 1])), Sample("2", np.array([0, -1]))]
        assert cnn_training._validation_error(loader, judged, None, QUICK) == 0.5

    @pytest.mark.parametrize("name", ["cnn-rgb", "cnn-rgnir"])
    def test_from_the_command_to_a_legal_submission(self, data: Path, tmp_path: Path, name: str) -> None:
        out = tmp_path / "out.csv"
        (tmp_path / "patches" / patch_path(14, ".png")).unlink()
        options = ["--patches", str(tmp_path / "patches"), "--weights", "none", "--epochs", "2", "--allow-missing"]
        result = CliRunner().invoke(
            baseline, [name, "--data", str(data), "--out", str(out), *options], catch_exceptions=False
        )
        assert result.exit_code == 0, result.output
        assert "epoch 2: loss" in result.stderr
        assert "1 test surveys have no picture." in result.stdout
        assert "Validation f1_samples:" in result.stdout
        check_submission(data / "public" / "PA_test_blind.csv", out, "f1_samples")


@needs_torch
class TestWeights:
    """Where a network starts from."""

    def test_weights_of_a_file_are_taken_but_for_the_last_layer(self, tmp_path: Path) -> None:
        import torch

        source = new_network(1000, "none", seed=1)
        torch.save(source.state_dict(), tmp_path / "resnet50.pth")
        network = new_network(7, str(tmp_path / "resnet50.pth"), seed=2)
        assert torch.equal(network.conv1.weight, source.conv1.weight)
        assert network.fc.weight.shape == (7, 2048)

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        import torch

        with pytest.raises(DataError, match=r"There is no file of weights nothing\.pth"):
            new_network(7, "nothing.pth", seed=0)
        (tmp_path / "text.pth").write_text("text")
        torch.save([1, 2], tmp_path / "list.pth")
        torch.save({"conv1.weight": torch.zeros(3)}, tmp_path / "part.pth")
        torch.save({"other": torch.zeros(3)}, tmp_path / "other.pth")
        for name in ("text", "list", "part", "other"):
            with pytest.raises(DataError, match="are not those of a ResNet-50"):
                new_network(7, str(tmp_path / f"{name}.pth"), seed=0)

    def test_without_a_cache_or_a_network_the_cure_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import torch.hub

        def unreachable(*arguments: Any, **options: Any) -> None:
            raise URLError("no route")

        monkeypatch.setattr(torch.hub, "_hub_dir", str(tmp_path))
        monkeypatch.setattr(torch.hub, "download_url_to_file", unreachable)
        with pytest.raises(
            DataError, match=r"not in torchvision's cache.*checkpoints/resnet50-0676ba61\.pth.*--weights"
        ):
            new_network(7, "imagenet", seed=0)
