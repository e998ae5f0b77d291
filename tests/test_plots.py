"""Pictures on axes that the caller gives: what they show is what was given, and nothing is said by colour alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import spatialsplit as ss
from spatialsplit.build import BuildReport
from spatialsplit.plots.maps import square_picture
from spatialsplit.plots.palette import LOOKS
from tests.record_tables import PA, surveys_of, table_of


@pytest.fixture
def axes() -> Any:
    """Give axes that no window shows."""
    return Figure().subplots()


def test_the_package_loads_no_drawing_library_until_a_picture_is_drawn() -> None:
    """`import spatialsplit` and the names of the pictures are quick."""
    code = "import sys, spatialsplit as ss; ss.plot_split, ss.write_report; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_every_picture_is_there_by_its_name() -> None:
    """In a notebook `ss.plot_` and Tab show them all."""
    from spatialsplit import plots

    assert set(plots.__all__) <= {name for name in dir(ss) if name.startswith("plot_")}
    assert all(callable(getattr(ss, name)) for name in plots.__all__)


class TestPlotSplit:
    """One line for a newcomer."""

    def test_a_dataset_folder_its_public_folder_and_its_points_are_drawn(
        self, built: BuildReport, tmp_path: Path, axes: Any
    ) -> None:
        """The legend counts the quadrats."""
        shutil.copytree(built.folder / "public", tmp_path / "public")
        words = [
            [text.get_text() for text in ss.plot_split(folder, axes).get_legend().get_texts()]
            for folder in (built.folder, str(tmp_path / "public"))
        ]
        drawn = {holdout["name"]: holdout["drawn"] for holdout in built.manifest["draw"]["holdouts"]}
        assert words[0] == words[1]
        assert words[0][1:] == [f"val ({drawn['val']:,})", f"test ({drawn['test']:,})"]
        marks = [handle.get_marker() for handle in axes.get_legend().legend_handles]
        assert marks == ["s", "s", "s"], "The legend shows what is on the map: squares."

    def test_a_split_is_drawn(self, tmp_path: Path, axes: Any) -> None:
        """As the library gives it."""
        rows = [f"p{i},{1 + i},{3 + 0.1 * i:.1f},45.0,1" for i in range(20)]
        surveys, problems = surveys_of(table_of(tmp_path, PA, rows))
        assert problems == []
        split = ss.split_surveys(surveys, ss.SplitRules(ss.Grid(), ss.DrawRules([ss.Holdout("test", 0.25)]), "s"))
        texts = [text.get_text() for text in ss.plot_split(split, axes).get_legend().get_texts()]
        assert texts == ["train (15)", "test (5)"]

    def test_a_split_by_another_grid_than_one_of_metres_is_refused(self, tmp_path: Path, axes: Any) -> None:
        """With what to give instead."""
        surveys, _ = surveys_of(table_of(tmp_path, PA, [f"p{i},{1 + i},{3 + i},45.0,1" for i in range(8)]))
        rules = ss.SplitRules(ss.PlanarGrid(0.5, unit="deg"), ss.DrawRules([ss.Holdout("test", 0.25)]), "s")
        with pytest.raises(ss.DataError, match=r"by PlanarGrid.* Give \(lon, lat, subset\)"):
            ss.plot_split(ss.split_surveys(surveys, rules), axes)

    def test_without_axes_a_figure_is_made(self, built: BuildReport, monkeypatch: pytest.MonkeyPatch) -> None:
        """A notebook shows it by itself."""
        import matplotlib

        matplotlib.use("agg")
        import matplotlib.pyplot as plt

        axes = ss.plot_split(built.folder)
        assert axes.figure in [plt.figure(number) for number in plt.get_fignums()]
        plt.close("all")

    def test_a_folder_without_quadrats_is_refused(self, tmp_path: Path, axes: Any) -> None:
        """With what to give instead."""
        with pytest.raises(ss.DataError, match=r"There is no quadrats.csv in .* give \(lon, lat, subset\)"):
            ss.plot_split(tmp_path, axes)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            (([1.0, 2.0], [3.0, 4.0], ["train"]), "lon, lat and subset have 2, 2 and 1 values"),
            (([1.0], [3.0]), "A map cannot be drawn of a tuple"),
            ({"lon": [1.0]}, "A map cannot be drawn of a dict"),
            (None, "A map cannot be drawn of a NoneType"),
        ],
    )
    def test_what_is_no_split_is_told(self, given: Any, said: str, axes: Any) -> None:
        """In a line that says what to give."""
        with pytest.raises(ss.DataError, match=said):
            ss.plot_split(given, axes)

    def test_points_without_a_place_are_no_error(self, axes: Any) -> None:
        """The legend counts them all the same."""
        texts = ss.plot_split(([np.nan], [np.nan], ["test"]), axes).get_legend().get_texts()
        axes.figure.canvas.draw()
        assert [text.get_text() for text in texts] == ["test (1)"]


class TestTheMap:
    """Squares in their places."""

    def test_no_quadrat_is_an_empty_map_and_many_subsets_are_no_error(self, axes: Any) -> None:
        """Leave-one-out over quadrats has as many subsets as quadrats."""
        corners = np.array([[5_000 * column, 0] for column in range(300)])
        ss.plot_quadrats(axes, corners[:0], np.array([], dtype=str), 5_000)
        assert axes.get_legend() is None
        image, names = square_picture(corners, np.array([f"fold {column}" for column in range(300)]), 5_000)
        assert image.max() == len(names) == 300

    def test_each_quadrat_is_one_square_of_its_subset(self) -> None:
        """North is up, east is right."""
        corners = np.array([[0, 0], [10_000, 0], [0, 5_000]])
        image, names = square_picture(corners, np.array(["train", "val", "test"]), 5_000)
        assert names == ["train", "val", "test"]
        assert image.tolist() == [[3, 0, 0], [1, 0, 2]]

    def test_a_large_map_stays_small_and_keeps_its_holdouts(self) -> None:
        """Squares are joined, and a holdout lies over its neighbours."""
        column, row = np.meshgrid(np.arange(3000), np.arange(30))
        corners = np.column_stack([column.ravel(), row.ravel()]) * 5_000
        subsets = np.where(np.arange(len(corners)) == 1234, "test", "train")
        image, names = square_picture(corners, subsets, 5_000)
        assert max(image.shape) <= 900
        assert names[image.max() - 1] == "test"


class TestCurves:
    """What is drawn can be read off again."""

    def test_the_nearest_curve_passes_its_quantiles(self, axes: Any) -> None:
        """At the median half of the surveys are behind; infinite distances are left out, 0 is a metre."""
        metres = np.concatenate([np.linspace(100, 2000, 1001), [np.inf]])
        line = ss.plot_nearest(axes, {"train": metres}).lines[0]
        at, share = line.get_data()
        assert abs(np.interp(1050, at, share) - 0.5) < 0.01
        assert len(at) <= 200
        assert ss.plot_nearest(axes, {"PO": [0.0, 5.0]}).lines[-1].get_xdata()[0] == 1.0

    def test_ranks_fall_and_species_that_were_not_found_do_not_count(self, axes: Any) -> None:
        """The commonest species is first, the last has one."""
        counts = np.r_[np.zeros(50), np.arange(1, 3001)]
        line = ss.plot_rank_abundance(axes, {"train": counts}).lines[0]
        ranks, found = line.get_data()
        assert (ranks[0], found[0], ranks[-1], found[-1]) == (1, 3000, 3000, 1)
        assert (np.diff(found) < 0).all()

    def test_every_removed_record_is_in_a_bar(self, axes: Any) -> None:
        """Also one at the radius; missing distances are left out."""
        metres = [0.0, 299.999, 300.0, np.nan]
        bars = ss.plot_removal_distances(axes, metres, radius_m=300).patches
        assert sum(bar.get_height() for bar in bars) == 3

    @pytest.mark.parametrize(
        ("name", "nothing"),
        [
            ("plot_nearest", {}),
            ("plot_nearest", {"train": [np.inf]}),
            ("plot_rank_abundance", {"test": []}),
            ("plot_removal_distances", []),
            ("plot_time_of_year", {"test": np.zeros(12)}),
            ("plot_balance", {"train": [np.nan]}),
        ],
    )
    def test_nothing_to_draw_is_an_empty_picture_and_no_error(self, name: str, nothing: Any, axes: Any) -> None:
        """A dataset may have none of it."""
        getattr(ss, name)(axes, nothing)
        axes.figure.canvas.draw()
        assert axes.get_legend() is None

    def test_few_records_and_species_are_counted_in_whole_numbers(self, axes: Any) -> None:
        """There is no half of one."""
        ss.plot_removal_distances(axes, [20.0, 120.0, 299.0], radius_m=300)
        assert all(float(tick).is_integer() for tick in axes.get_yticks())
        counts = ss.plot_counts(Figure().subplots(), {"train": 2, "test": 1}, label="species")
        assert all(float(tick).is_integer() for tick in counts.get_xticks())

    def test_names_are_never_read_as_formulas(self, axes: Any) -> None:
        """A column or subset may be called anything."""
        ss.plot_balance(axes, {"$\\frac$": [1.0, 2.0]}, label="$\\sqrt$ & <b>")
        axes.figure.canvas.draw()
        assert axes.get_xlabel() == "$\\sqrt$ & <b>"


class TestColours:
    """Told apart by everybody."""

    def test_no_two_subsets_share_a_line_or_a_mark(self) -> None:
        """Without any colour a curve is still known."""
        for one, other in combinations(LOOKS.values(), 2):
            assert one.line != other.line
            assert one.mark != other.mark

    @pytest.mark.parametrize("missing", ["red", "green"])
    def test_colours_differ_for_those_who_see_no_red_or_no_green(self, missing: str) -> None:
        """By the matrices of Viénot, Brettel and Mollon 1999, in linear light: no pair comes near."""
        matrix = {
            "red": [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
            "green": [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
        }[missing]
        seen = {
            name: np.array(matrix) @ (np.array([int(look.colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255) ** 2.2
            for name, look in LOOKS.items()
        }
        for one, other in combinations(("train", "val", "test", "PO"), 2):
            assert np.linalg.norm(seen[one].clip(0) ** (1 / 2.2) - seen[other].clip(0) ** (1 / 2.2)) > 0.12
