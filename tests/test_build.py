"""The build from recipe to published folder: its order, its rules, its bytes."""

from __future__ import annotations

import csv
import hashlib
import json
import random
import subprocess
from pathlib import Path

import numpy as np
import pyproj
import pytest

from spatialsplit.build import BuildOptions, BuildReport, build_dataset
from spatialsplit.errors import DataError, OutputError, RecipeError, SpatialSplitError
from spatialsplit.manifest import verify_dataset
from tests.recipes import PA_HEADER, PO_HEADER, TEST_HALF, four_quadrats, write_csv, write_recipe

NOT_EQUAL = {"run.json", "report.html"}


def read(path: Path, separator: str = ",") -> list[dict[str, str]]:
    """Read a written table with Python's own reader."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=separator))


def contents(folder: Path) -> dict[str, bytes]:
    """Give all files that equal builds have in common."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in NOT_EQUAL
    }


def problems(recipe: Path, error: type[SpatialSplitError] = DataError) -> str:
    """Give what a build that must fail says."""
    with pytest.raises(error) as caught:
        build_dataset(recipe, recipe.parent / "out")
    assert not (recipe.parent / "out").exists()
    return str(caught.value)


class TestAWholeBuild:
    """What a stranger finds in the folder."""

    def test_every_file_of_the_contract_is_there(self, built: BuildReport) -> None:
        names = set(contents(built.folder))
        assert names == {
            "manifest.json",
            "SHA256SUMS",
            "recipe.toml",
            *(
                f"public/{n}"
                for n in ("PO_train.csv", "PA_train.csv", "PA_val.csv", "PA_test_blind.csv", "species.csv")
            ),
            *(f"public/{n}" for n in ("sample_submission.csv", "quadrats.csv", "split.png", "README.md", "SHA256SUMS")),
            *(f"private/{n}" for n in ("solution.csv", "PA_test.csv", "PO_removed.csv")),
        }

    def test_sha256sum_accepts_both_lists(self, built: BuildReport) -> None:
        for folder in (built.folder, built.folder / "public"):
            subprocess.run(["sha256sum", "-c", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)

    def test_verify_finds_nothing(self, built: BuildReport) -> None:
        assert verify_dataset(built.folder) == []

    def test_one_flipped_byte_fails_verify(self, flora: Path, tmp_path: Path) -> None:
        report = build_dataset(flora / "recipe.toml", tmp_path / "d")
        target = report.folder / "public" / "PA_val.csv"
        data = bytearray(target.read_bytes())
        data[-2] ^= 1
        target.write_bytes(bytes(data))
        assert any("PA_val.csv" in problem for problem in verify_dataset(report.folder))

    def test_the_audit_passes_and_stands_in_the_manifest(self, built: BuildReport) -> None:
        checks = json.loads((built.folder / "manifest.json").read_text())["audit"]
        assert len(checks) == 13
        assert {check["passed"] for check in checks} == {True}

    def test_every_survey_is_in_one_subset_and_every_quadrat_too(self, built: BuildReport) -> None:
        public, private = built.folder / "public", built.folder / "private"
        ids = {
            name: {row["surveyId"] for row in read(path)}
            for name, path in (
                ("train", public / "PA_train.csv"),
                ("val", public / "PA_val.csv"),
                ("test", private / "PA_test.csv"),
            )
        }
        assert len(set.union(*ids.values())) == sum(map(len, ids.values())) == 600

    def test_no_training_record_lies_within_the_radius_of_a_test_survey(self, built: BuildReport) -> None:
        test = read(built.folder / "public" / "PA_test_blind.csv")
        po = read(built.folder / "public" / "PO_train.csv")
        geod = pyproj.Geod(ellps="WGS84")
        lon, lat = (np.array([float(row[name]) for row in po]) for name in ("lon", "lat"))
        for row in test:
            distance = geod.inv(lon, lat, np.full(len(po), float(row["lon"])), np.full(len(po), float(row["lat"])))[2]
            assert distance.min() > 300

    def test_the_removed_records_name_their_nearest_survey(self, built: BuildReport) -> None:
        places = {
            row["surveyId"]: (float(row["lon"]), float(row["lat"]))
            for row in read(built.folder / "private" / "PA_test.csv")
        }
        removed = read(built.folder / "private" / "PO_removed.csv")
        geod = pyproj.Geod(ellps="WGS84")
        assert removed
        for row in removed:
            all_m = {i: geod.inv(float(row["lon"]), float(row["lat"]), *place)[2] for i, place in places.items()}
            nearest = min(all_m.values())
            assert row["nearest_surveyId"] == min((i for i, d in all_m.items() if d <= nearest + 1e-6), key=int)
            assert row["distance_m"] == f"{nearest:.3f}"
            assert nearest <= 300

    def test_a_quadrat_can_be_checked_with_sha256sum(self, built: BuildReport) -> None:
        row = read(built.folder / "public" / "quadrats.csv")[0]
        text = f"tests|test|{row['quadratId']}"
        shell = subprocess.run(
            f"printf '%s' '{text}' | sha256sum", shell=True, capture_output=True, text=True, check=True
        )
        assert shell.stdout[:16] == row["test_number"]

    def test_the_smallest_numbers_are_the_test_quadrats(self, built: BuildReport) -> None:
        rows = sorted(
            read(built.folder / "public" / "quadrats.csv"), key=lambda row: (row["test_number"], row["quadratId"])
        )
        k = int(0.05 * len(rows) + 0.5)
        assert [row["subset"] for row in rows[:k]] == ["test"] * k
        left = sorted((row for row in rows[k:]), key=lambda row: (row["val_number"], row["quadratId"]))
        k = int(0.05 * len(left) + 0.5)
        assert [row["subset"] for row in left] == ["val"] * k + ["train"] * (len(left) - k)

    def test_surveys_are_numbered_by_the_hash_of_their_keys(self, built: BuildReport, flora: Path) -> None:
        keys = {(row["patchID"], row["dayOfYear"]) for row in read(flora / "pa.csv")}
        ranked = sorted(keys, key=lambda key: hashlib.sha256(f"survey|{key[0]}|{key[1]}".encode()).digest()[:8])
        for row in read(built.folder / "public" / "PA_val.csv"):
            assert ranked[int(row["surveyId"]) - 1] == (row["patchID"], row["dayOfYear"])

    def test_usage_is_drawn_by_whole_quadrats(self, built: BuildReport) -> None:
        usage = {row["surveyId"]: row["Usage"] for row in read(built.folder / "private" / "solution.csv")}
        quadrats = read(built.folder / "public" / "quadrats.csv")
        assert set(usage.values()) == {"Public", "Private"}
        assert "Usage" not in quadrats[0]

    def test_the_blinded_table_has_the_allow_list_only(self, built: BuildReport) -> None:
        allowed = {
            "surveyId",
            "patchID",
            "dayOfYear",
            "lon",
            "lat",
            "date",
            "year",
            "geoUncertaintyInM",
            "areaInM2",
            "region",
            "country",
        }
        assert set(read(built.folder / "public" / "PA_test_blind.csv")[0]) == allowed

    def test_presence_only_rows_keep_their_order_and_their_text(self, built: BuildReport, flora: Path) -> None:
        before = {row["glcID"]: row for row in read(flora / "po.csv")}
        after = read(built.folder / "public" / "PO_train.csv")
        ids = [row["glcID"] for row in after]
        assert ids == [i for i in before if i in set(ids)]
        for row in after[:200]:
            old = before[row["glcID"]]
            assert list(row) == list(old)
            assert all(row[name] == old[name] for name in row if name not in ("lon", "lat"))

    def test_nothing_is_lost(self, built: BuildReport) -> None:
        for step in built.manifest["steps"]:
            assert step["in"] == step["kept"] + sum(step["dropped"].values())


class TestTheSameBytes:
    """Same inputs and recipe give the same bytes, however the build runs."""

    @pytest.mark.parametrize(
        "options", [BuildOptions(threads=1), BuildOptions(threads=2), BuildOptions(batch_bytes=20_000)]
    )
    def test_threads_and_batches_do_not_show(
        self, built: BuildReport, flora: Path, tmp_path: Path, options: BuildOptions
    ) -> None:
        again = build_dataset(flora / "recipe.toml", tmp_path / "again", options)
        assert contents(again.folder) == contents(built.folder)

    def test_the_order_of_the_presence_absence_rows_shows_in_the_input_hash_only(
        self, built: BuildReport, flora: Path, tmp_path: Path
    ) -> None:
        header, *rows = (flora / "pa.csv").read_text().splitlines()
        random.Random(1).shuffle(rows)
        write_csv(tmp_path / "pa.csv", header, rows)
        (tmp_path / "po.csv").write_bytes((flora / "po.csv").read_bytes())
        (tmp_path / "recipe.toml").write_bytes((flora / "recipe.toml").read_bytes())
        again = contents(build_dataset(tmp_path / "recipe.toml", tmp_path / "again").folder)
        before = contents(built.folder)
        differing = {name for name in before if before[name] != again[name]}
        assert differing <= {"manifest.json", "SHA256SUMS"}
        old, new = (json.loads(content["manifest.json"]) for content in (before, again))
        del old["inputs"], new["inputs"]
        assert old == new

    def test_parquet_beside_csv_has_the_same_content(self, flora: Path, tmp_path: Path) -> None:
        for name in ("pa.csv", "po.csv"):
            (tmp_path / name).write_bytes((flora / name).read_bytes())
        (tmp_path / "recipe.toml").write_text(
            (flora / "recipe.toml").read_text() + '\n[output]\nformats = ["csv", "parquet"]\n'
        )
        outputs = build_dataset(tmp_path / "recipe.toml", tmp_path / "d").manifest["outputs"]
        pairs = [name for name in outputs if name.endswith(".parquet")]
        assert len(pairs) >= 6
        for name in pairs:
            assert outputs[name]["content_sha256"] == outputs[name.replace(".parquet", ".csv")]["content_sha256"]
        assert verify_dataset(tmp_path / "d") == []


class TestTheRules:
    """Rules of the contract that the flora alone does not show."""

    def test_coordinates_are_rounded_before_any_decision(self, tmp_path: Path) -> None:
        """A point that rounding moves over an edge belongs to the quadrat of the published point."""
        to_metres = pyproj.Transformer.from_crs(4326, 3035, always_xy=True)
        lon, lat = pyproj.Transformer.from_crs(3035, 4326, always_xy=True).transform(4_325_000 - 0.02, 3_210_002.0)
        rounded = to_metres.transform(round(lon, 3), round(lat, 3))
        rows = [f"p,10,,{lon!r},{lat!r},1", "q,10,,5.0,45.0,1"]
        write_csv(tmp_path / "pa.csv", PA_HEADER, rows)
        recipe = write_recipe(tmp_path, more="[output]\ncoordinate_decimals = 3\n")
        report = build_dataset(recipe, tmp_path / "d")
        east = int(rounded[0] // 5000 * 5000)
        assert any(row["quadratId"].endswith(f"E{east}") for row in read(report.folder / "public" / "quadrats.csv"))

    def test_a_record_at_exactly_the_radius_is_removed(self, tmp_path: Path) -> None:
        geod = pyproj.Geod(ellps="WGS84")
        rows = four_quadrats()
        lon, lat, _ = geod.fwd(5.0, 45.0, 0, 500)
        distance = geod.inv(5.0, 45.0, round(lon, 6), round(lat, 6))[2]
        write_csv(tmp_path / "pa.csv", PA_HEADER, rows)
        write_csv(tmp_path / "po.csv", PO_HEADER, [f"1,,{lon!r},{lat!r},1", "2,,9.0,45.0,2"])
        assignment = write_csv(tmp_path / "fixed.csv", "quadratId,subset", [])
        for radius, n_removed in ((distance, 1), (np.nextafter(distance, 0), 0)):
            recipe = write_recipe(
                tmp_path,
                po="po.csv",
                more=f'[po_filter]\nradius_m = {float(radius)!r}\n[draw]\nquadrats = "fixed.csv"\n',
            )
            from spatialsplit.quadrats import Grid

            label = Grid().assign(np.array([5.0]), np.array([45.0])).labels[0]
            write_csv(assignment, "quadratId,subset", [f"{label},test"])
            report = build_dataset(recipe, tmp_path / f"d{n_removed}")
            assert len(read(report.folder / "private" / "PO_removed.csv")) == n_removed

    def test_species_that_only_test_has_are_removed_and_listed(self, tmp_path: Path) -> None:
        species = {i: [1, 2, 100 + i] for i in range(4)}
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats(species))
        folder = build_dataset(write_recipe(tmp_path), tmp_path / "d").folder
        dropped = read(folder / "private" / "dropped_labels.csv")
        assert len(dropped) == 2
        assert {int(row["speciesId"]) for row in dropped} <= {100, 101, 102, 103}
        assert {row["predictions"] for row in read(folder / "private" / "solution.csv")} == {"1 2"}

    def test_names_get_numbers_in_code_point_order(self, tmp_path: Path) -> None:
        rows = [
            row[:-1] + name for row in four_quadrats({i: [1] for i in range(4)}) for name in ("Ulmus", "Abies", "Éo")
        ]
        write_csv(tmp_path / "pa.csv", PA_HEADER, rows)
        write_csv(tmp_path / "po.csv", PO_HEADER, ["1,,9.0,45.0,Zea", "2,,9.0,45.1,Abies"])
        folder = build_dataset(write_recipe(tmp_path, po="po.csv"), tmp_path / "d").folder
        names = {row["speciesName"]: row["speciesId"] for row in read(folder / "public" / "species.csv")}
        assert names == {"Abies": "0", "Ulmus": "1", "Zea": "2", "Éo": "3"}
        assert [row["speciesId"] for row in read(folder / "public" / "PO_train.csv")] == ["2", "0"]
        header = (folder / "private" / "PO_removed.csv").read_text().splitlines()[0]
        assert header == f"{PO_HEADER},speciesName,reason,distance_m,nearest_surveyId"

    def test_rare_species_and_a_maximum_apply_after_the_filter(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        po = [f"{i},,9.0,{45 + i / 100},{1 if i < 8 else 7}" for i in range(10)]
        write_csv(tmp_path / "po.csv", PO_HEADER, po)
        recipe = write_recipe(tmp_path, po="po.csv", more="[po_filter]\nmin_records = 3\nmax_records = 5\n")
        folder = build_dataset(recipe, tmp_path / "d").folder
        assert [row["speciesId"] for row in read(folder / "public" / "PO_train.csv")] == ["1"] * 5
        reasons = [row["reason"] for row in read(folder / "private" / "PO_removed.csv")]
        assert sorted(reasons) == ["over_maximum"] * 3 + ["rare_species"] * 2

    @pytest.mark.parametrize("cell", ["-5", "inf", "-inf", "about 50"])
    def test_an_uncertainty_that_is_no_distance_is_refused_or_dropped(self, cell: str, tmp_path: Path) -> None:
        """It must not count as 0 in silence: the record may lie anywhere. An empty one is known to be missing."""
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        rows = ["1,2021-01-01,6.5,45.0,1,10", f"2,2021-01-01,6.5,45.0,1,{cell}", "3,2021-01-01,6.5,45.0,1,"]
        write_csv(tmp_path / "po.csv", f"{PO_HEADER},geoUncertaintyInM", rows)
        asked = '[po_filter]\nuncertainty_column = "geoUncertaintyInM"\n'
        recipe = write_recipe(tmp_path, po="po.csv", more=asked)
        said = problems(recipe)
        assert f"Invalid uncertainty in 1 of 3 rows of po.csv (first: line 3: {cell})" in said
        recipe = write_recipe(tmp_path, po="po.csv", more=f'{asked}[clean]\nbad_uncertainty = "drop"\n')
        folder = build_dataset(recipe, tmp_path / "out").folder
        assert [row["glcID"] for row in read(folder / "public" / "PO_train.csv")] == ["1", "3"]
        assert [row["reason"] for row in read(folder / "private" / "dropped_po.csv")] == ["bad_uncertainty"]

    def test_uncertainty_is_added_to_the_radius(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        po = [f"1,,{5 + 0.2 * i:.1f},45.01,1,{u}" for i in range(4) for u in (0, 2000, "")]
        write_csv(tmp_path / "po.csv", PO_HEADER + ",geoUncertaintyInM", po)
        recipe = write_recipe(tmp_path, po="po.csv", more='[po_filter]\nuncertainty_column = "geoUncertaintyInM"\n')
        removed = read(build_dataset(recipe, tmp_path / "d").folder / "private" / "PO_removed.csv")
        assert [row["geoUncertaintyInM"] for row in removed] == ["2000", "2000"]

    def test_all_records_in_test_quadrats_can_go(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        write_csv(tmp_path / "po.csv", PO_HEADER, [f"{i},,{5 + 0.2 * i:.1f},45.005,1" for i in range(4)])
        recipe = write_recipe(tmp_path, po="po.csv", more="[po_filter]\nradius_m = 10\nwhole_quadrats = true\n")
        removed = read(build_dataset(recipe, tmp_path / "d").folder / "private" / "PO_removed.csv")
        assert {row["reason"] for row in removed} == {"in_test_quadrat"}
        assert all(500 < float(row["distance_m"]) < 600 and row["nearest_surveyId"] for row in removed)

    def test_empty_surveys_stay_in_train_and_leave_the_holdouts(self, tmp_path: Path) -> None:
        header = "siteid,lon,lat,sp1,sp2"
        rows = [f"s{i},{5 + 0.2 * (i // 2):.1f},45.0,{i % 2},{i % 2}" for i in range(8)]
        write_csv(tmp_path / "pa.csv", header, rows)
        more = '[surveys]\nkeys = ["siteid"]\n'
        recipe = write_recipe(tmp_path, more=more)
        recipe.write_text(
            recipe.read_text().replace(
                'path = "pa.csv"\n', 'path = "pa.csv"\nlayout = "wide"\nspecies_columns = "sp*"\n'
            )
        )
        folder = build_dataset(recipe, tmp_path / "d").folder
        assert len(read(folder / "public" / "PA_train_empty.csv")) == 2
        assert [row["reason"] for row in read(folder / "private" / "dropped_surveys.csv")] == ["empty_in_holdout"] * 2
        assert {row["n_empty"] for row in read(folder / "public" / "quadrats.csv")} == {"1"}

    def test_rows_of_a_wide_table_can_be_dropped(self, tmp_path: Path) -> None:
        """Whatever they hold: each is listed once, and the counts add up, of rows and of whole surveys."""
        good = [f"s{i},{5 + 0.2 * i:.1f},45.0,1,{i % 2}" for i in range(8)]
        bad = ["x,,45.0,1,1", "y,5.0,45.0,NA,1", "z,5.0,45.0,1,1", "z,5.4,45.0,1,0"]
        write_csv(tmp_path / "pa.csv", "siteid,lon,lat,sp1,sp2", [*bad, *good])
        recipe = write_recipe(tmp_path, more='[surveys]\nkeys = ["siteid"]\n')
        wide = 'layout = "wide"\nspecies_columns = "sp*"\n'
        drop = 'drop = ["missing_coordinate", "bad_species", "survey_coordinates"]\n'
        recipe.write_text(recipe.read_text().replace('path = "pa.csv"\n', f'path = "pa.csv"\n{wide}{drop}'))
        report = build_dataset(recipe, tmp_path / "d")
        dropped = [(row["reason"], row["line"]) for row in read(report.folder / "private" / "dropped_pa.csv")]
        of_surveys = [("survey_coordinates", "4"), ("survey_coordinates", "5")]
        assert dropped == [("missing_coordinate", "2"), ("bad_species", "3"), *of_surveys]
        steps = {step["step"]: step["dropped"] for step in report.manifest["steps"]}
        assert steps["read_pa"] == {"missing_coordinate": 1, "bad_species": 1}
        assert steps["surveys"] == {"survey_coordinates": 3}  # labels

    def test_dropped_rows_keep_their_line_and_reason(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, ["x,10,,5.0,91,1", *four_quadrats(), "y,10,,,45,1"])
        write_csv(tmp_path / "po.csv", PO_HEADER, ["1,,9.0,45.0,1", "", "2,,999,45.0,1"])
        recipe = write_recipe(tmp_path, po="po.csv")
        text = recipe.read_text().replace(
            'path = "pa.csv"', 'path = "pa.csv"\ndrop = ["bad_latitude", "missing_coordinate"]'
        )
        recipe.write_text(text.replace('path = "po.csv"', 'path = "po.csv"\ndrop = ["bad_longitude"]'))
        folder = build_dataset(recipe, tmp_path / "d").folder
        pa = [(row["reason"], row["file"], row["line"]) for row in read(folder / "private" / "dropped_pa.csv")]
        assert pa == [("bad_latitude", "pa.csv", "2"), ("missing_coordinate", "pa.csv", "11")]
        po = [(row["reason"], row["line"], row["glcID"]) for row in read(folder / "private" / "dropped_po.csv")]
        assert po == [("bad_longitude", "4", "2")]

    def test_a_sealed_seed_stands_nowhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        secret = "0123456789abcdef" * 2
        monkeypatch.setenv("SECRET_SEED", secret)
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        recipe = write_recipe(tmp_path, top='seed_env = "SECRET_SEED"', more="[evaluation]\npublic_share = 0.5\n")
        report = build_dataset(recipe, tmp_path / "d")
        assert report.manifest["seed"] == {"kind": "sealed", "sha256": hashlib.sha256(secret.encode()).hexdigest()}
        assert not any(secret.encode() in data for data in contents(report.folder).values())
        assert not any("seed is open" in warning for warning in report.manifest["warnings"])


class TestLayouts:
    """Each past year's own files."""

    def test_glc2024_joins_validation_into_train(self, flora: Path, tmp_path: Path) -> None:
        for name in ("pa.csv", "po.csv"):
            (tmp_path / name).write_bytes((flora / name).read_bytes())
        (tmp_path / "recipe.toml").write_text((flora / "recipe.toml").read_text() + '\n[output]\nlayout = "glc2024"\n')
        public = build_dataset(tmp_path / "recipe.toml", tmp_path / "d").folder / "public"
        rows = read(public / "GLC24_PA_metadata_train.csv")
        assert {row["subset"] for row in rows} == {"train", "val"}
        assert (public / "GLC24_PO_metadata_train.csv").exists()
        assert "speciesId" not in read(public / "GLC24_PA_metadata_test.csv")[0]

    def test_glc2023_publishes_presence_absence_as_validation(self, flora: Path, tmp_path: Path) -> None:
        for name in ("pa.csv", "po.csv"):
            (tmp_path / name).write_bytes((flora / name).read_bytes())
        text = (flora / "recipe.toml").read_text().replace('[[holdouts]]\nname = "val"\nshare = 0.05\n', "")
        (tmp_path / "recipe.toml").write_text(text + '\n[draw]\nremainder = "val"\n[output]\nlayout = "glc2023"\n')
        folder = build_dataset(tmp_path / "recipe.toml", tmp_path / "d").folder
        assert next(iter(read(folder / "public" / "test_blind.csv", ";")[0])) == "Id"
        assert read(folder / "public" / "Presences_Absences_train.csv", ";")
        assert read(folder / "public" / "Presences_only_train.csv", ";")
        assert list(read(folder / "private" / "solution.csv")[0])[:2] == ["Id", "Expected"]
        assert list(read(folder / "public" / "sample_submission.csv")[0]) == ["Id", "Predicted"]

    def test_glc2022_keeps_the_observations_own_numbers(self, tmp_path: Path) -> None:
        rows = [f"{1000 + i},{5 + 0.2 * (i % 4):.1f},{45 + i / 1000},{i // 4}" for i in range(12)]
        write_csv(tmp_path / "pa.csv", "observation_id,longitude,latitude,species_id", rows)
        more = (
            '[surveys]\nkeys = ["observation_id"]\n[output]\nlayout = "glc2022"\n[evaluation]\nmetric = '
            '"top_k_error"\noptions = { k = 2 }\n'
        )
        public = build_dataset(write_recipe(tmp_path, more=more), tmp_path / "d").folder / "public"
        train = read(public / "observations_train.csv", ";")
        assert list(train[0]) == ["observation_id", "latitude", "longitude", "species_id", "subset"]
        test = read(public / "observations_test.csv", ";")
        assert {int(row["observation_id"]) for row in [*train, *test]} == set(range(1000, 1012))

    def test_glc2022_numbers_observations_of_another_key(self, flora: Path, tmp_path: Path) -> None:
        """Records of any kind are a table of single observations; the layout leaves their keys out of its files."""
        (tmp_path / "po.csv").write_bytes((flora / "po.csv").read_bytes())
        more = '[surveys]\nkeys = ["glcID"]\n[output]\nlayout = "glc2022"\n[evaluation]\nmetric = "top_k_error"\n'
        holdouts = '[[holdouts]]\nname = "test"\nshare = 0.1\n[[holdouts]]\nname = "val"\nshare = 0.1\n'
        report = build_dataset(write_recipe(tmp_path, pa="po.csv", more=more, holdouts=holdouts), tmp_path / "d")
        train = read(report.folder / "public" / "observations_train.csv", ";")
        assert {row["subset"] for row in train} == {"train", "val"}

    def test_the_grid_glc2022_takes_a_southern_place_for_unprojectable(self, tmp_path: Path) -> None:
        """It has no quadrats south of the equator: an error with the line, unless the recipe drops such rows."""
        south = four_quadrats()[0].replace("p0", "p9").replace("45.0", "-45.0")
        write_csv(tmp_path / "pa.csv", PA_HEADER, [*four_quadrats(), south])
        grid = '[quadrats]\ngrid = "glc2022"\n'
        assert f"line {len(four_quadrats()) + 2}: lon 5.0 lat -45.0" in problems(write_recipe(tmp_path, more=grid))
        recipe = write_recipe(tmp_path, more=grid)
        recipe.write_text(recipe.read_text().replace('"pa.csv"', '"pa.csv"\ndrop = ["unprojectable"]'))
        report = build_dataset(recipe, tmp_path / "d")
        assert report.manifest["steps"][0]["dropped"] == {"unprojectable": 1}

    def test_glc2022_refuses_a_survey_with_two_species(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        assert "more than one species" in problems(write_recipe(tmp_path, more='[output]\nlayout = "glc2022"\n'))


class TestBadInput:
    """Each fault of an input is one clear line, and nothing is published."""

    def test_all_faults_of_both_tables_are_told_at_once(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, [*four_quadrats(), "x,10,,5.0,91,1", ",10,,5.0,45,1"])
        write_csv(tmp_path / "po.csv", PO_HEADER, ["1,,9.0,45.0,1", "2,,nan,45.0,1", "3,,9.0,45.0,Abies"])
        said = problems(write_recipe(tmp_path, po="po.csv")).splitlines()
        assert [line.split(" in ")[0] for line in said] == [
            "Invalid latitude",
            "Missing survey key",
            "Missing coordinate",
            "Invalid species",
        ]

    def test_a_holdout_that_comes_out_empty_says_what_would_work(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        holdouts = TEST_HALF.replace("0.5", "0.025")
        assert "The holdout 'test' is empty: a share of 0.025 of 4 free quadrats" in problems(
            write_recipe(tmp_path, holdouts=holdouts)
        )

    def test_a_survey_in_two_places_is_named(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, [*four_quadrats(), "p0,10,2021-01-10,5.1,45.0,3"])
        assert "patchID p0 dayOfYear 10 at (5.0, 45.0) and (5.1, 45.0)" in problems(write_recipe(tmp_path))

    def test_two_years_in_one_survey_name_the_cure(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, [*four_quadrats(), "p0,10,2022-01-10,5.0,45.0,3"])
        assert 'keys = ["patchID", "year", "dayOfYear"]' in problems(write_recipe(tmp_path))

    def test_day_366_of_a_common_year_is_refused(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER.replace("date", "year"), ["p,366,2021,5.0,45.0,1"])
        assert "Contradicting date" in problems(write_recipe(tmp_path))

    def test_an_unknown_key_names_the_nearest(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        assert "Did you mean 'share_of'?" in problems(
            write_recipe(tmp_path, more='[draw]\nshareof = "surveys"\n'), RecipeError
        )

    def test_an_existing_folder_is_refused_without_force(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        recipe = write_recipe(tmp_path)
        build_dataset(recipe, tmp_path / "d")
        with pytest.raises(OutputError, match="say --force"):
            build_dataset(recipe, tmp_path / "d")
        build_dataset(recipe, tmp_path / "d", BuildOptions(force=True))

    def test_force_does_not_replace_a_folder_of_something_else(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())
        precious = tmp_path / "home"
        precious.mkdir()
        (precious / "thesis.txt").write_text("years of work")
        with pytest.raises(OutputError, match="is not one of ours"):
            build_dataset(write_recipe(tmp_path), precious, BuildOptions(force=True))
        assert (precious / "thesis.txt").exists()

    def test_an_input_that_changes_meanwhile_is_noticed(self, tmp_path: Path) -> None:
        pa = write_csv(tmp_path / "pa.csv", PA_HEADER, four_quadrats())

        def change(step: str) -> None:
            if step == "write":
                pa.write_text(pa.read_text() + "z,10,,5.0,45.0,1\n")

        with pytest.raises(DataError, match=r"pa\.csv changed while it was read"):
            build_dataset(write_recipe(tmp_path), tmp_path / "d", BuildOptions(on_step=change))
        assert not (tmp_path / "d").exists()

    def test_a_full_disk_leaves_the_old_dataset_whole(self, flora: Path, tmp_path: Path) -> None:
        """A file size limit stands for a full disk: writing fails in the middle of a file."""
        import shutil
        import sys

        target = tmp_path / "d"
        build_dataset(flora / "recipe.toml", target)
        before = contents(target)
        command = (
            f"ulimit -f 100; exec {sys.executable} -m spatialsplit build {flora}/recipe.toml --out {target} --force"
        )
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "File too large" in done.stderr
        assert "Traceback" not in done.stderr
        assert contents(target) == before
        assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["d"]
        shutil.rmtree(target)
