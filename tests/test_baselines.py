"""The baselines: exact, honest about what they know, and each a legal submission."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from spatialsplit.baselines import forest as forest_module
from spatialsplit.baselines.dataset import BuiltDataset
from spatialsplit.baselines.environment import Environment, Imputation
from spatialsplit.baselines.forest import EnvironmentForest, SparseForest
from spatialsplit.baselines.frequent import ConstantComposition, MostFrequent
from spatialsplit.baselines.ranking import best_first, by_frequency, places_in_one_ranking, size_curve
from spatialsplit.baselines.running import run_baseline
from spatialsplit.baselines.trees import Tree, TreeRules, grow_tree
from spatialsplit.cli.baselines import baseline
from spatialsplit.cli.building import build
from spatialsplit.errors import DataError, ManifestError, OutputError
from spatialsplit.metrics import f1_samples
from spatialsplit.rasters import Raster
from spatialsplit.submission import check_submission, score
from spatialsplit.synthetic import write_virtual_flora
from tests.raster_files import write_raster

NEW_BOOTSTRAP = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


def write_csv(path: Path, header: str, rows: Iterable[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *(str(row) for row in rows), ""]), encoding="utf-8")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Write a dataset of a few surveys, as `spatialsplit build` lays it out."""
    public = tmp_path / "data" / "public"
    header = "surveyId,patchID,dayOfYear,lon,lat,speciesId"
    train = [(1, 8.005, 5), (1, 8.005, 7), (2, 8.005, 5), (3, 8.015, 9), (3, 8.015, 7), (4, 8.015, 9)]
    write_csv(public / "PA_train.csv", header, (f"{i},p{i},10,{lon},50.995,{s}" for i, lon, s in train))
    val = [(11, 8.005, 5), (11, 8.005, 8), (12, 8.015, 9), (12, 8.015, 8), (13, 8.015, 8)]
    write_csv(public / "PA_val.csv", header, (f"{i},p{i},10,{lon},50.995,{s}" for i, lon, s in val))
    write_csv(public / "PO_train.csv", "glcID,lon,lat,speciesId", ["1,8.005,50.995,6"] * 3)
    blind = [(22, 8.015), (21, 8.005)]
    write_csv(
        public / "PA_test_blind.csv", header.removesuffix(",speciesId"), (f"{i},p,1,{x},50.995" for i, x in blind)
    )
    write_csv(public / "sample_submission.csv", "surveyId,predictions", ["21,0", "22,0"])
    return tmp_path / "data"


def predictions(path: Path) -> dict[str, str]:
    with path.open() as file:
        return {row["surveyId"]: row["predictions"] for row in csv.DictReader(file)}


class TestSizes:
    """The number of species that is predicted: exact, over all of them."""

    @given(st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=6, unique=True), min_size=1, max_size=8))
    def test_the_curve_is_the_f1_of_every_size(self, truths: list[list[int]]) -> None:
        row = np.repeat(np.arange(len(truths)), [len(truth) for truth in truths])
        species = np.concatenate([np.array(truth) for truth in truths])
        ranking = by_frequency(species)
        places = places_in_one_ranking(ranking, species)
        curve = size_curve(places, row, np.bincount(row), len(ranking))
        expected = [f1_samples(truths, [ranking[:k].tolist()] * len(truths)) for k in range(1, len(ranking) + 1)]
        np.testing.assert_allclose(curve.f1, expected, rtol=1e-12)
        best = next(k for k, value in enumerate(expected, start=1) if value >= max(expected) - 1e-9)
        assert curve.best_size == best

    def test_equally_common_species_come_by_their_id_and_equally_good_sizes_by_size(self) -> None:
        assert by_frequency(np.array([9, 4, 4, 9, 30, 1, 1])).tolist() == [1, 4, 9, 30]
        curve = size_curve(np.array([0, 1, 0]), np.array([0, 0, 1]), np.array([2, 1]), 2)
        assert curve.f1[0] == pytest.approx(curve.f1[1])
        assert curve.best_size == 1

    def test_equally_probable_species_come_by_their_id(self) -> None:
        ranked = best_first(np.array([[0.0, 0.3, 0.1, 0.3, 0.1]]), np.array([2, 4, 6, 8, 9]), 3)
        assert ranked.tolist() == [[4, 8, 6]]
        assert best_first(np.zeros((1, 4)), np.array([2, 4, 6, 8]), 9).tolist() == [[2, 4, 6, 8]]


class TestSameEverywhere:
    """Constant composition and the most frequent species."""

    def test_constant_composition_is_that_of_the_validation_surveys(self, small: Path, tmp_path: Path) -> None:
        """8 is in all three surveys (K = 1: 7/9); 5 and 9 in one each, and 5 comes first."""
        run = run_baseline("constant", ConstantComposition(), BuiltDataset(small), tmp_path / "out.csv")
        assert run.curve is not None
        assert run.curve.f1.tolist() == pytest.approx([7 / 9, 13 / 18, 0.7])
        assert (run.n_predicted, run.validation) == (1, pytest.approx(7 / 9))
        assert (tmp_path / "out.csv").read_text() == "surveyId,predictions\n21,8\n22,8\n"

    def test_the_most_frequent_are_those_of_the_training_data(self, small: Path, tmp_path: Path) -> None:
        data, out = BuiltDataset(small), tmp_path / "out.csv"
        model = MostFrequent()
        run_baseline("frequent", model, data, out, metric="top_k_error")
        assert model.ranking.tolist() == [5, 7, 9]
        assert predictions(out) == {"21": "5 7 9", "22": "5 7 9"}
        model = MostFrequent("both")
        run = run_baseline("frequent", model, data, out, metric="top_k_error")
        assert model.ranking.tolist() == [6, 5, 7, 9]
        assert data.training("both")[0].labels() == [[5, 7], [5], [7, 9], [9], [6], [6], [6]]
        assert run.validation == pytest.approx(3 / 5)  # labels 8, 8, 8 of five are not among the candidates

    def test_without_validation_surveys_nothing_is_scored_and_it_is_said(self, small: Path, tmp_path: Path) -> None:
        (small / "public" / "PA_val.csv").unlink()
        for model in (ConstantComposition(), MostFrequent()):
            run = run_baseline("name", model, BuiltDataset(small), tmp_path / "out.csv")
            assert run.validation is None
            assert any("No validation surveys" in note for note in run.notes)

    def test_with_few_species_no_more_are_said_to_be_predicted(self, small: Path, tmp_path: Path) -> None:
        run = run_baseline(
            "most-frequent", MostFrequent(), BuiltDataset(small), tmp_path / "s.csv", metric="top_k_error"
        )
        assert run.n_predicted == 3
        assert predictions(tmp_path / "s.csv") == dict.fromkeys(["21", "22"], "5 7 9")

    def test_a_damaged_manifest_is_named(self, small: Path) -> None:
        for text in ("{", "{}", '{"format": 1}'):
            (small / "manifest.json").write_text(text)
            with pytest.raises(ManifestError, match=r"manifest\.json"):
                _ = BuiltDataset(small).metric

    def test_files_of_2022_are_read_by_their_own_names(self, tmp_path: Path) -> None:
        """One file holds train and val, told apart by `subset`; the metric is 2022's, and so is the submission."""
        rows = ["3;51;8;5;train", "4;51;8;5;train", "5;51;8;9;train", "6;51;8;5;val", "7;51;8;2;val"]
        write_csv(tmp_path / "observations_train.csv", "observation_id;latitude;longitude;species_id;subset", rows)
        write_csv(tmp_path / "observations_test.csv", "observation_id;latitude;longitude", ["10;51;8", "9;51;8"])
        run = run_baseline("frequent", MostFrequent(), BuiltDataset(tmp_path), tmp_path / "out.csv")
        assert (run.metric, run.validation, run.n_validation) == ("top_k_error", 0.5, 2)
        assert (tmp_path / "out.csv").read_text() == "Id,Predicted\n9,5 9\n10,5 9\n"

    def test_an_output_that_cannot_be_written_is_refused_before_the_work(self, small: Path, tmp_path: Path) -> None:
        """A network is hours of it."""
        (tmp_path / "file").write_text("")
        for out, message in ((tmp_path, "is a folder"), (tmp_path / "file" / "s.csv", "Cannot write .*another output")):
            told: list[str] = []
            with pytest.raises(OutputError, match=message):
                run_baseline("most-frequent", MostFrequent(), BuiltDataset(small), out, tell=told.append)
            assert not told

    def test_the_folder_of_the_output_is_made(self, small: Path, tmp_path: Path) -> None:
        run_baseline("most-frequent", MostFrequent(), BuiltDataset(small), tmp_path / "new" / "s.csv")
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["s.csv"]

    def test_test_surveys_without_a_whole_number_are_refused(self, small: Path, tmp_path: Path) -> None:
        for header, row, shown in (("surveyId,lon,lat", "a1,8,51", "'a1'"), ("lon,lat", "8,51", "''")):
            write_csv(small / "public" / "PA_test_blind.csv", header, [row])
            with pytest.raises(DataError, match=f"Invalid id in 1 of 1 test surveys .*first: {shown}"):
                run_baseline("most-frequent", MostFrequent(), BuiltDataset(small), tmp_path / "s.csv")

    def test_a_folder_that_is_no_dataset_is_refused(self, small: Path, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"No PA_test_blind\.csv or observations_test\.csv"):
            run_baseline("name", ConstantComposition(), BuiltDataset(tmp_path / "nothing"), tmp_path / "out.csv")
        (small / "public" / "PO_train.csv").unlink()
        with pytest.raises(DataError, match=r"No training records in .*which has surveys"):
            run_baseline("name", MostFrequent("records"), BuiltDataset(small), tmp_path / "out.csv")


CASES = [(3000, 7, 20, False), (3000, 7, 20, True), (500, 27, 40, True), (4000, 27, 900, True)]


def made_records(n: int, n_variables: int, n_species: int, *, rough: bool, seed: int = 0) -> tuple[Any, Any]:
    """Make values with ties, a constant variable, and one that is constant in a branch."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, n_variables))
    species = np.minimum((rng.pareto(1.0, n) * 3 + 4 * (values[:, 1] > 0)).astype(int), n_species - 1) * 3 + 5
    if rough:
        values = np.round(values, 1)
        values[:, 0], values[:, 2] = 1.0, np.where(values[:, 1] > 0, values[:, 2], 0.5)
    return values.astype(np.float32), species


def as_dense(tree: Tree, n_classes: int) -> Any:
    leaves = np.flatnonzero(tree.variable < 0)
    dense = np.zeros((len(tree.variable), n_classes))
    for leaf in leaves:
        entries = slice(tree.first[leaf], tree.first[leaf + 1])
        dense[leaf, tree.species[entries]] = tree.share[entries]
    return leaves, dense


class TestForest:
    """The same forest as scikit-learn's, without its memory."""

    @pytest.mark.parametrize(("n", "n_variables", "n_species", "rough"), CASES)
    @pytest.mark.parametrize(("depth", "min_split"), [(16, 30), (4, 2), (30, 2)])
    def test_a_tree_is_scikit_learns_to_the_last_bit(
        self, n: int, n_variables: int, n_species: int, rough: bool, depth: int, min_split: int
    ) -> None:
        values, species = made_records(n, n_variables, n_species, rough=rough)
        classes = np.unique(species, return_inverse=True)[1]
        weight = np.bincount(np.random.default_rng(1).integers(0, n, n), minlength=n)
        model = DecisionTreeClassifier(
            max_depth=depth, min_samples_split=min_split, max_features="sqrt", random_state=7
        ).fit(values, classes, sample_weight=weight)
        seed = np.random.RandomState(7).randint(0, 2**31 - 1)
        tree = grow_tree(values.T, classes, weight, seed=int(seed), rules=TreeRules(depth, min_split))
        theirs = model.tree_
        np.testing.assert_array_equal(tree.variable, np.where(theirs.feature < 0, -1, theirs.feature))
        np.testing.assert_array_equal(tree.limit, np.where(theirs.feature < 0, 0, theirs.threshold))
        np.testing.assert_array_equal(tree.leaves(values), model.apply(values))
        leaves, dense = as_dense(tree, len(model.classes_))
        np.testing.assert_array_equal(dense[leaves], theirs.value[leaves, 0])

    @pytest.mark.skipif(not NEW_BOOTSTRAP, reason="scikit-learn drew bootstrap samples in another way before 1.9")
    def test_the_forest_ranks_as_scikit_learns_does(self) -> None:
        """Probabilities are equal to the last bit, so the 30 best are the same, ties included."""
        values, species = made_records(2500, 9, 300, rough=True)
        ours = SparseForest(n_trees=30, seed=3).fit(values, species)
        theirs = RandomForestClassifier(30, max_depth=16, min_samples_split=30, random_state=3).fit(values, species)
        shares = theirs.predict_proba(values)
        np.testing.assert_array_equal(ours.probabilities(values), shares)
        best = np.lexsort((np.broadcast_to(theirs.classes_, shares.shape), -shares))[:, :30]
        np.testing.assert_array_equal(ours.rank(values, 30), theirs.classes_[best])

    def test_the_seed_says_all(self) -> None:
        values, species = made_records(600, 5, 20, rough=True)
        first, again, parallel, other = (
            SparseForest(4, seed=seed, n_jobs=n_jobs).fit(values, species).probabilities(values)
            for seed, n_jobs in ((1, 1), (1, 1), (1, 2), (2, 1))
        )
        np.testing.assert_array_equal(first, again)
        np.testing.assert_array_equal(first, parallel)
        assert not np.array_equal(first, other)

    def test_chunks_do_not_show(self, monkeypatch: pytest.MonkeyPatch) -> None:
        values, species = made_records(600, 5, 20, rough=True)
        forest = SparseForest(5).fit(values, species)
        whole = forest.rank(values, 7)
        monkeypatch.setattr(forest_module, "CHUNK_NUMBERS", 100)
        np.testing.assert_array_equal(forest.rank(values, 7), whole)

    def test_a_leaf_holds_the_species_it_has_met_and_no_more(self) -> None:
        """5,000 species × nodes would be a hundred times the records."""
        values, species = made_records(5000, 5, 10**6, rough=False)
        tree = SparseForest(1).fit(values, species).trees[0]
        assert len(tree.species) <= 5000
        assert tree.share.sum() == pytest.approx(np.count_nonzero(tree.variable < 0))

    def test_values_that_hardly_differ_are_one_value(self) -> None:
        """Steps below 1e-7 never split, though a chain of them may be wider."""
        values = (np.arange(40) * 5e-8).astype(np.float32)[:, None]
        classes = np.repeat([0, 1], 20)
        tree = grow_tree(values.T, classes, np.ones(40, int), seed=1, rules=TreeRules(16, 2))
        model = DecisionTreeClassifier(max_features=1, random_state=0).fit(values, classes)
        assert len(tree.variable) == model.tree_.node_count == 1

    def test_missing_values_are_refused(self) -> None:
        with pytest.raises(DataError, match=r"1 missing or infinite values. Fill them in first"):
            SparseForest(1).fit([[np.nan], [1.0]], [1, 2])


class TestEnvironment:
    """Where the variables come from, and what is missing of them."""

    def test_rows_of_a_table_are_found_by_id(self, small: Path, tmp_path: Path) -> None:
        """Neither order nor strangers nor known columns count, and what is not there is missing."""
        rows = ["22,8.0,5,x", "99,1.0,7,y", "2,0.5,,z", "1,inf,9,"]
        write_csv(tmp_path / "env.csv", "surveyId,bio_1,lat,note", rows)
        data = BuiltDataset(small)
        surveys, _ = data.training()
        names, (train, test) = Environment(tables=[tmp_path / "env.csv"]).of(surveys, data.test)
        assert names == ["bio_1"]
        np.testing.assert_array_equal(train[:, 0], [np.nan, 0.5, np.nan, np.nan])
        np.testing.assert_array_equal(test[:, 0], [8.0, np.nan])

    def test_rasters_and_tables_stand_side_by_side(self, small: Path, tmp_path: Path) -> None:
        write_csv(tmp_path / "a.csv", "surveyId,soil,ph", ["21,4,6"])
        write_csv(tmp_path / "b.csv", "surveyId,soil,ph", ["22,5,7"])
        raster = Raster(write_raster(tmp_path, np.array([[1, 2]], "int16")))
        environment = Environment([raster], [tmp_path / "a.csv", tmp_path / "b.csv"], ["ph"])
        names, (test,) = environment.of(BuiltDataset(small).test)
        assert names == ["height", "ph"]
        assert test.tolist() == [[2, 7], [1, 6]]

    def test_one_id_with_two_environments_is_refused(self, small: Path, tmp_path: Path) -> None:
        write_csv(tmp_path / "env.csv", "surveyId,soil", ["21,4", "21,4", "22,5", "22,6"])
        with pytest.raises(DataError, match=r"1 ids of the environment have rows that differ \(first: 22"):
            Environment(tables=[tmp_path / "env.csv"]).of(BuiltDataset(small).test)

    def test_tables_with_other_columns_stand_side_by_side(self, small: Path, tmp_path: Path) -> None:
        """As GeoLifeCLEF publishes them: climate and soil, each for training and test."""
        write_csv(tmp_path / "climate_train.csv", "surveyId,warmth", ["1,10", "2,20"])
        write_csv(tmp_path / "climate_test.csv", "surveyId,warmth", ["22,40"])
        write_csv(tmp_path / "soil.csv", "surveyId,ph", ["22,7", "1,5"])
        tables = [tmp_path / name for name in ("climate_train.csv", "climate_test.csv", "soil.csv")]
        data = BuiltDataset(small)
        names, (train, test) = Environment(tables=tables, variables=["ph", "warmth"]).of(data.training()[0], data.test)
        assert names == ["warmth", "ph"]
        np.testing.assert_array_equal(train, [[10, 5], [20, np.nan], [np.nan] * 2, [np.nan] * 2])
        np.testing.assert_array_equal(test, [[40, 7], [np.nan] * 2])
        write_csv(tmp_path / "soil.csv", "surveyId,ph,warmth", ["22,7,41"])
        with pytest.raises(DataError, match=r"1 ids of the environment have rows that differ \(first: 22\)"):
            Environment(tables=tables).of(data.test)

    def test_a_column_with_one_text_is_named_and_not_silently_dropped(self, small: Path, tmp_path: Path) -> None:
        write_csv(tmp_path / "env.csv", "surveyId,a,b", ["1,1,1", "2,2,'2,5'", "11,1,1", "22,1,1"])
        (tmp_path / "env.csv").write_text((tmp_path / "env.csv").read_text().replace("'", '"'))
        model = EnvironmentForest(Environment(tables=[tmp_path / "env.csv"]), forest=SparseForest(2))
        assert "No variables, as they hold text: b." in model.fit(BuiltDataset(small))

    def test_what_float32_cannot_hold_is_missing(self, small: Path, tmp_path: Path) -> None:
        write_csv(tmp_path / "env.csv", "surveyId,a", ["21,1e300", "22,-inf"])
        _, (test,) = Environment(tables=[tmp_path / "env.csv"]).of(BuiltDataset(small).test)
        assert np.isnan(test).all()

    def test_surveys_to_predict_of_which_nothing_is_known_are_told(self, small: Path, tmp_path: Path) -> None:
        """A test table that was forgotten must not become a submission that says the same everywhere."""
        rows = ["1,1", "2,3", "3,8", "4,9", "11,1"]
        write_csv(tmp_path / "env.csv", "surveyId,a", [*rows, "22,1"])
        notes = EnvironmentForest(Environment(tables=[tmp_path / "env.csv"]), forest=SparseForest(2)).fit(
            BuiltDataset(small)
        )
        assert "2 of 3 validation surveys have no environment and got the medians." in notes
        assert "1 of 2 test surveys have no environment and got the medians." in notes
        write_csv(tmp_path / "env.csv", "surveyId,a", rows)
        with pytest.raises(DataError, match="None of the 2 test surveys has an environment"):
            EnvironmentForest(Environment(tables=[tmp_path / "env.csv"])).fit(BuiltDataset(small))

    def test_what_is_filled_in_is_learnt_from_the_training_surveys_alone(self, small: Path, tmp_path: Path) -> None:
        """Validation and test rows may be anything: the forest and what it fills in stay the same."""
        rows = ["1,1,1", "2,3,", "3,8,4", "4,,5"]
        medians = []
        for others in (["11,1,1", "21,,2"], ["11,900,9", "12,800,9", "13,700,9", "22,600,9"]):
            write_csv(tmp_path / "env.csv", "surveyId,a,b", [*rows, *others])
            model = EnvironmentForest(Environment(tables=[tmp_path / "env.csv"]), forest=SparseForest(2))
            notes = model.fit(BuiltDataset(small))
            medians.append(model._imputation.medians.tolist())
        assert medians == [[3, 4], [3, 4]]
        assert "2 of 8 training values were missing and took the median of the training data." in notes
        assert Imputation.fit(np.array([[np.nan]])).fill(np.array([[np.nan]])).tolist() == [[0.0]]

    def test_training_surveys_of_which_nothing_is_known_are_left_out(self, small: Path, tmp_path: Path) -> None:
        raster = Raster(write_raster(tmp_path, np.array([[7, -1]], "int16"), nodata=-1))
        model = EnvironmentForest(Environment([raster]), forest=SparseForest(2))
        notes = model.fit(BuiltDataset(small))
        assert "2 training surveys without any environment were left out." in notes
        assert model.forest.species.tolist() == [5, 7]
        nowhere = Raster(write_raster(tmp_path, np.array([[-1, -1]], "int16"), nodata=-1))
        with pytest.raises(DataError, match="None of the 4 training surveys has an environment"):
            EnvironmentForest(Environment([nowhere])).fit(BuiltDataset(small))

    def test_the_command_reads_rasters_and_columns_as_it_says(self, small: Path, tmp_path: Path) -> None:
        """The cure of a raster without a CRS is an option of the command, and names may have spaces round them."""
        raster = write_raster(tmp_path, np.array([[1, 2]], "int16"), crs=None)
        write_csv(tmp_path / "env.csv", "surveyId,soil,ph", ["1,4,6", "11,4,6", "21,4,6"])
        arguments = ["random-forest", "--data", str(small), "--out", str(tmp_path / "s.csv"), "--trees", "2"]
        arguments += ["--jobs", "1", "--raster", str(raster), "--env", str(tmp_path / "env.csv")]
        arguments += ["--env-columns", "soil, ph"]
        result = CliRunner().invoke(baseline, arguments)
        assert "declares no CRS" in str(result.exception)
        result = CliRunner().invoke(baseline, [*arguments, "--raster-crs", "EPSG:4326"], catch_exceptions=False)
        assert "2 trees on 6 labels of the training surveys, 3 variables." in result.output

    @pytest.mark.parametrize(
        ("source", "option", "lacking"),
        [
            ("--raster", ["--env-columns", "a"], "--env-columns names columns of --env"),
            ("--env", ["--nodata", "0"], "--nodata is a value of --raster"),
            ("--env", ["--raster-crs", "EPSG:4326"], "--raster-crs is the CRS of --raster"),
        ],
    )
    def test_an_option_of_what_is_not_given_is_a_mistake(
        self, small: Path, source: str, option: list[str], lacking: str
    ) -> None:
        arguments = ["random-forest", "--data", str(small), "--out", "s.csv", source, "x.csv", *option]
        result = CliRunner().invoke(baseline, arguments)
        assert result.exit_code == 2
        assert lacking in result.output

    @pytest.mark.parametrize("jobs", ["0", "-2"])
    def test_the_number_of_processes_is_one_that_means_something(self, small: Path, jobs: str) -> None:
        arguments = ["random-forest", "--data", str(small), "--out", "s.csv", "--env", "e.csv", "--jobs", jobs]
        result = CliRunner().invoke(baseline, arguments)
        assert result.exit_code == 2
        assert f"--jobs is a number of processes, or -1 for one a core, and is {jobs}." in result.output

    def test_no_environment_is_an_error_that_says_what_to_give(self) -> None:
        with pytest.raises(DataError, match=r"--raster FILE, or --env TABLE"):
            Environment()


@pytest.fixture(scope="module")
def larger_flora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flora") / "flora"
    write_virtual_flora(folder, n_surveys=1500, n_po=4000)
    return folder


def build_changed(flora: Path, out: Path, change: dict[str, str]) -> Path:
    """Build the flora by its own recipe, with some lines changed."""
    text = (flora / "recipe.toml").read_text()
    for old, new in {"share = 0.025": "share = 0.1", **change}.items():
        assert old in text
        text = text.replace(old, new)
    tomllib.loads(text)
    recipe = flora / f"{out.name}.toml"
    recipe.write_text(text)
    result = CliRunner().invoke(build, [str(recipe), "--out", str(out)])
    assert result.exit_code == 0, (result.output, result.exception)
    return out


class TestOnTheVirtualFlora:
    """From the command to the score, on datasets that the package itself built."""

    def run(self, name: str, data: Path, out: Path, *options: str) -> str:
        arguments = [name, "--data", str(data), "--out", str(out), *options]
        result = CliRunner().invoke(baseline, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    def test_the_forest_beats_the_constant_and_the_constant_beats_chance(
        self, larger_flora: Path, tmp_path: Path
    ) -> None:
        data = build_changed(larger_flora, tmp_path / "data", {})
        rasters = [f"--raster={path}" for path in sorted((larger_flora / "rasters").glob("*.tif"))]
        options = {
            "constant-composition": [],
            "most-frequent": [],
            "random-forest": [*rasters, "--trees=20", "--jobs=1"],
        }
        scores = {}
        for name, more in options.items():
            out = tmp_path / f"{name}.csv"
            told = self.run(name, data / "public", out, *more)
            result = score(data / "private" / "solution.csv", out, "f1_samples", resamples=0)
            scores[name] = result.score
            assert result.notes == ()
            assert "Validation f1_samples: 0." in told
            assert "best" in told
        species = np.loadtxt(data / "public" / "species.csv", delimiter=",", skiprows=1, usecols=0, dtype=int)
        truths = [[int(s) for s in row.split()] for row in self.truths(data)]
        rng = np.random.default_rng(0)
        chance = f1_samples(truths, [rng.choice(species, 24, replace=False).tolist() for _ in truths])
        assert chance + 0.1 < scores["constant-composition"] < scores["random-forest"] - 0.1
        assert scores["most-frequent"] > chance + 0.1

    @staticmethod
    def truths(data: Path) -> list[str]:
        with (data / "private" / "solution.csv").open() as file:
            return [row["predictions"] for row in csv.DictReader(file)]

    @pytest.mark.parametrize(("layout", "header"), [("glc2023", "Id,Predicted"), ("glc2024", "surveyId,predictions")])
    def test_submissions_are_legal_in_other_layouts(
        self, larger_flora: Path, tmp_path: Path, layout: str, header: str
    ) -> None:
        change = {"[about]": f'[output]\nlayout = "{layout}"\n[about]'}
        if layout == "glc2023":
            change["[evaluation]"] = '[draw]\nremainder = "val"\n[evaluation]'
            change['[[holdouts]]\nname = "val"\nshare = 0.1\n'] = ""
        data = build_changed(larger_flora, tmp_path / layout, change)
        for name in ("constant-composition", "most-frequent"):
            out = tmp_path / f"{name}.csv"
            told = self.run(name, data, out)
            check_submission(data / "private" / "solution.csv", out, "f1_samples")
            assert out.read_text().splitlines()[0] == header
            assert "Validation f1_samples: 0." in told

    def test_with_one_species_a_row_30_candidates_are_given(self, larger_flora: Path, tmp_path: Path) -> None:
        """GeoLifeCLEF 2022: single observations, the forest's 30 best hit more often than the 30 commonest."""
        change = {
            'path = "pa.csv"': 'path = "po.csv"',
            '[inputs.po]\npath = "po.csv"\n': "",
            'keys = ["patchID", "dayOfYear"]': 'keys = ["glcID"]',
            '[po_filter]\nradius_m = 300\naround = ["test"]\n': "",
            "[evaluation]\nmetric = \"f1_samples\"": "[evaluation]\nmetric = \"top_k_error\"",
        }  # fmt: skip
        data = build_changed(larger_flora, tmp_path / "single", change)
        rasters = [f"--raster={path}" for path in sorted((larger_flora / "rasters").glob("*.tif"))]
        errors = {}
        for name, more in {"most-frequent": [], "random-forest": [*rasters, "--trees=20", "--jobs=1"]}.items():
            out = tmp_path / f"{name}.csv"
            told = self.run(name, data, out, *more)
            assert "predictions of 30 species each" in told
            errors[name] = score(data / "private" / "solution.csv", out, "top_k_error", resamples=0, exact_k=True).score
        assert errors["random-forest"] < errors["most-frequent"] < 1 - 30 / 295
