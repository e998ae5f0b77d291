"""A recipe says everything, or it is told all that is wrong with it, once for each place."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from spatialsplit.errors import RecipeError
from spatialsplit.quadrats import PRESETS, Grid
from spatialsplit.recipe import Recipe, parse_recipe, read_recipe

SMALLEST: dict[str, Any] = {
    "name": "t",
    "seed": "s",
    "inputs": {"pa": {"path": "pa.csv"}},
    "holdouts": [{"name": "test", "share": 0.1}],
}
SECRET = "0123456789abcdef" * 2


def recipe_of(**changed: Any) -> Recipe:
    """Parse the smallest recipe with some sections changed; None leaves one out."""
    content = copy.deepcopy(SMALLEST) | changed
    return parse_recipe({key: value for key, value in content.items() if value is not None}, "recipe.toml")


def pa_of(**changed: Any) -> dict[str, Any]:
    return {"pa": {"path": "pa.csv"} | changed}


def test_the_smallest_recipe_has_the_defaults_of_the_contract() -> None:
    """Four things are needed; the rest is as design.md names it."""
    recipe = recipe_of()
    assert recipe.grid() == Grid("EPSG:3035", 5000, (0, 0))
    assert (recipe.survey_rules().keys, recipe.survey_rules().coordinates) == (("patchID", "dayOfYear"), "error")
    assert (recipe.po_filter.radius_m, recipe.po_filter.around) == (300, ["test"])
    assert (recipe.evaluation.metric, recipe.evaluation.public_share) == ("f1_samples", None)
    assert (recipe.output.formats, recipe.output.layout, recipe.output.coordinate_decimals) == (["csv"], None, 6)
    rules = recipe.draw_rules()
    assert (rules.method, rules.share_of, rules.remainder, rules.holdouts[0].share) == (
        "quota",
        "quadrats",
        "train",
        0.1,
    )


@pytest.mark.parametrize(
    ("written", "seed"), [('"s"', "s"), ("5", "5"), ("0xff", "255"), ('"sämling 🌱"', "sämling 🌱")]
)
def test_a_seed_is_text_and_a_whole_number_means_its_digits(written: str, seed: str, tmp_path: Path) -> None:
    """As TOML reads it."""
    path = tmp_path / "recipe.toml"
    path.write_text(
        f'name = "t"\nseed = {written}\n[inputs.pa]\npath = "x"\n[[holdouts]]\nname = "test"\nshare = 0.1\n', "utf-8"
    )
    assert read_recipe(path).secret_seed() == seed


@pytest.mark.parametrize("share", [0.1 + 0.2, 1e-9, 0.999999])
def test_any_share_between_0_and_1_is_taken_as_it_is(share: float) -> None:
    """No rounding."""
    assert recipe_of(holdouts=[{"name": "test", "share": share}]).draw_rules().holdouts[0].share == share


def test_a_preset_is_a_grid_by_name() -> None:
    """And the manifest names it also where it is told by CRS, size and origin."""
    assert recipe_of(quadrats={"grid": "glc2022"}).grid() == PRESETS["glc2022"]
    told = recipe_of(quadrats={"size_m": 10_000, "origin": [5000, 5000]})
    assert told.resolved()["quadrats"] == {
        "grid": "glc2024", "crs": "EPSG:3035", "size_m": 10_000, "origin": [5000, 5000],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("layout", "floats"), [("long", False), ("glc2022", False), ("glc2023", True), ("glc2024", True), ("glc2025", True)]
)
def test_float_text_is_taken_under_the_layouts_that_have_it(layout: str, floats: bool) -> None:
    """GeoLifeCLEF's files from 2023 on."""
    assert recipe_of(inputs=pa_of(layout=layout)).inputs.pa.float_species == floats


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"seeds": 1}, "Unknown key 'seeds' in recipe.toml. Known: name, seed, "),
    ({"po_filter": {"radius": 5}}, "Unknown key 'radius' in [po_filter] of recipe.toml. Known: radius_m, around,"),
    ({"po_filter": {"radius": 5}}, "Did you mean 'radius_m'?"),
    ({"inputs": pa_of(pth="x")}, "Unknown key 'pth' in [inputs.pa] of recipe.toml. Known: path, columns, layout,"),
    ({"holdouts": [{"name": "test", "shre": 0.1}]}, "Unknown key 'shre' in [[holdouts]] number 1 of recipe.toml"),
    ({"name": None}, "Missing key 'name' in recipe.toml. A recipe needs name, seed, [inputs.pa]"),
    ({"inputs": {"pa": {}}}, "Missing key 'path' in [inputs.pa] of recipe.toml"),
    ({"holdouts": []}, "Invalid value [] of 'holdouts' in recipe.toml"),
    ({"holdouts": {"name": "test"}}, "of 'holdouts' in recipe.toml: it must be a list"),
    ({"holdouts": [{"name": "test", "share": "x"}]}, """Invalid value "x" of 'share' in [[holdouts]] number 1 of"""),
    ({"holdouts": [{"name": "test", "share": 0}]}, "of 'share' in [[holdouts]] number 1 of recipe.toml: it must be gr"),
    ({"holdouts": [{"name": "test", "share": float("nan")}]}, "Invalid value NaN of 'share'"),
    ({"holdouts": [{"name": "dev", "share": 0.1}]}, "it must be 'test' or 'val'"),
    ({"holdouts": [{"name": "val", "share": 0.1}]}, "There is no [[holdouts]] named 'test'"),
    ({"holdouts": [{"name": "test", "share": 0.6}, {"name": "val", "share": 0.5}]}, "The shares sum to 1.1, which is"),
    ({"holdouts": [{"name": "test", "share": 0.1}] * 2}, "Holdout 'test' stands there 2 times"),
    ({"name": "a b"}, "of 'name' in recipe.toml: it must be letters, digits, dots, hyphens and underscores"),
    ({"name": "a\n"}, "of 'name' in recipe.toml: it must be letters, digits"),
    ({"seed": ""}, "Invalid seed ''. It must be text"),
    ({"seed": "a|b"}, "Invalid seed 'a|b'. It must be text (UTF-8) without '|'"),
    ({"seed": True}, "Invalid value true of 'seed' in recipe.toml: it must be text"),
    ({"seed": 1.5}, "Invalid value 1.5 of 'seed' in recipe.toml: it must be text"),
    ({"seed": None}, 'A recipe has either seed = "…" or seed_env = "NAME"'),
    ({"seed_env": "X"}, 'A recipe has either seed = "…" or seed_env = "NAME"'),
    ({"inputs": 5}, "of 'inputs' in recipe.toml: it must be a section of its own"),
    ({"inputs": pa_of(path=5)}, "Invalid value 5 of 'path' in [inputs.pa] of recipe.toml: it must be text or it must"),
    ({"inputs": pa_of(path=[])}, "path under [inputs.pa] names no file"),
    ({"inputs": pa_of(path=["a", "b", "a"])}, "inputs.pa.path names 'a' twice"),
    ({"inputs": pa_of(columns={"lon": 5})}, "Invalid value 5 of 'lon' in [inputs.pa.columns] of recipe.toml: it must"),
    ({"inputs": pa_of(drop=["latitude"])}, "Unknown reason 'latitude' in drop under [inputs.pa]. Known: missing_coord"),
    ({"inputs": pa_of(drop=["latitude"])}, "Did you mean 'bad_latitude'?"),
    ({"inputs": pa_of(layout="wide")}, "layout = 'wide' and species_columns belong together under [inputs.pa]"),
    ({"inputs": pa_of(species_columns="s*")}, "layout = 'wide' and species_columns belong together under [inputs.pa]"),
    ({"inputs": pa_of(layout="tall")}, "Invalid value \"tall\" of 'layout' in [inputs.pa] of recipe.toml: it must be"),
    ({"inputs": pa_of(crs="EPSG:1")}, "[inputs.pa]: Unknown CRS 'EPSG:1'"),
    ({"inputs": pa_of(separator="|")}, "[inputs.pa]: Invalid separator '|'"),
    ({"inputs": pa_of(encoding="klingon")}, "[inputs.pa]: Unknown encoding 'klingon'"),
    ({"surveys": {"keys": []}}, "Invalid keys []. A survey needs at least one"),
    ({"surveys": {"keys": ["a", "a"]}}, "surveys.keys names 'a' twice"),
    ({"quadrats": {"size_m": 0}}, "Invalid quadrat size 0"),
    ({"quadrats": {"size_m": 5000.0}}, "Invalid value 5000.0 of 'size_m' in [quadrats] of recipe.toml: it must be a"),
    ({"quadrats": {"crs": "EPSG:4326"}}, "does not count in metres"),
    ({"quadrats": {"origin": [1]}}, "Invalid origin [1]"),
    ({"quadrats": {"grid": "glc2019"}}, "Unknown grid 'glc2019'. Known: glc2022, glc2024"),
    ({"quadrats": {"grid": "glc2022", "size_m": 5000}}, "[quadrats] has grid = 'glc2022' and crs, size_m or origin be"),
    ({"po_filter": {"radius_m": -1}}, "of 'radius_m' in [po_filter] of recipe.toml: it must be greater than or equal"),
    ({"po_filter": {"radius_m": float("inf")}}, "Invalid value Infinity of 'radius_m'"),
    ({"po_filter": {"around": ["val"]}}, "names 'val', which is no holdout. Holdouts: test."),
    ({"po_filter": {"around": ["tset"]}}, "of 'around' in [po_filter] of recipe.toml: it must be 'test' or 'val'"),
    ({"po_filter": {}}, "[po_filter] stands there without [inputs.po]"),
    ({"draw": {"strata": "x", "method": "threshold"}}, "[draw] has strata and method = 'threshold', which exclude eac"),
    ({"draw": {"quadrats": "a", "extend": "b"}}, "[draw] has quadrats and extend, which exclude each other"),
    ({"draw": {"quadrats": "a", "attempts": 3}}, "[draw] has quadrats and attempts, which exclude each other"),
    ({"draw": {"method": "threshold", "share_of": "surveys"}}, "cannot count surveys"),
    ({"evaluation": {"options": {"beta": float("nan")}}}, "Invalid value nan of 'beta' in [evaluation.options]"),
    ({"evaluation": {"options": {"beta": [1]}}}, "Invalid value [1] of 'beta' in [evaluation.options] of recipe.toml:"),
    ({"output": {"formats": ["parquet"]}}, "[output] formats must hold 'csv'"),
    ({"output": {"layout": "glc2023"}}, 'Say remainder = "val" under [draw]'),
    ({"output": {"layout": "glc2022", "formats": ["csv", "parquet"]}}, "layout = 'glc2022' is made of CSV files"),
    ({"output": {"blind_columns": ["speciesId"]}}, "would give the answer away"),
]  # fmt: skip


@pytest.mark.parametrize(("changed", "said"), WRONG, ids=[f"{i}-{next(iter(c))}" for i, (c, _) in enumerate(WRONG)])
def test_what_is_wrong_is_said_with_value_place_and_what_must_hold(changed: dict[str, Any], said: str) -> None:
    """One short line a place, never one for each type that was tried."""
    with pytest.raises(RecipeError, match="recipe") as caught:
        recipe_of(**changed)
    assert any(said in problem for problem in caught.value.problems), str(caught.value)
    assert len(caught.value.problems) <= 2
    assert all("\n" not in problem and len(problem) < 400 for problem in caught.value.problems)


def test_all_complaints_come_at_once() -> None:
    """A line for each place."""
    with pytest.raises(RecipeError, match="Unknown key 'seeds'") as caught:
        recipe_of(seeds=1, name="a b", po_filter={"radius": 1}, holdouts=[{"name": "test"}])
    assert len(caught.value.problems) == 4


def test_a_wrong_key_in_a_wide_place_is_not_taken_for_a_type() -> None:
    """A column that is called like one of the types that were tried."""
    with pytest.raises(RecipeError, match=r"Invalid value 5 of 'str' in \[inputs\.pa\.columns\]"):
        recipe_of(inputs=pa_of(columns={"str": 5}))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"name = ", "recipe.toml is not TOML: Invalid value (at end of document). Correct that place"),
        (b"seed = " + b"9" * 5000, "recipe.toml is not TOML: Exceeds the limit"),
        (b"a = " + b"[" * 5000, "recipe.toml is nested too deeply"),
        (b'name = "\xe9"', "recipe.toml is not UTF-8 text"),
        (b'name = "a\0b"', "recipe.toml is not TOML: Illegal character"),
        (b"name = 1979-05-27\nseed = inf", "Invalid value \"1979-05-27\" of 'name' in recipe.toml: it must be text"),
        (b"", "Missing key 'name' in recipe.toml"),
    ],
)
def test_a_file_that_is_no_recipe(content: bytes, said: str, tmp_path: Path) -> None:
    """Cut off, too deep, of another encoding, or with a day where a word should stand."""
    path = tmp_path / "recipe.toml"
    path.write_bytes(content)
    with pytest.raises(RecipeError, match=r"recipe\.toml") as caught:
        read_recipe(path)
    assert said in str(caught.value)


def test_a_path_that_is_no_file(tmp_path: Path) -> None:
    """Nothing, a folder, or something below a file."""
    with pytest.raises(RecipeError, match=r"There is no recipe .*none\.toml"):
        read_recipe(tmp_path / "none.toml")
    with pytest.raises(RecipeError, match=r"is a folder\. A recipe is a TOML file"):
        read_recipe(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(RecipeError, match=r"Cannot read .*file/x \(Not a directory\)"):
        read_recipe(tmp_path / "file" / "x")


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    """Some editors write one."""
    path = tmp_path / "recipe.toml"
    path.write_bytes(
        b'\xef\xbb\xbfname = "t"\nseed = "s"\ninputs.pa.path = "x"\nholdouts = [{name = "test", share = 0.5}]\n'
    )
    assert read_recipe(path).name == "t"


class TestTheSealedSeed:
    """A secret seed never stands in a file."""

    def test_it_comes_from_the_environment_and_only_its_commitment_is_told(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """`printf '%s' SEED | sha256sum`."""
        monkeypatch.setenv("T_SEED", SECRET)
        recipe = recipe_of(seed=None, seed_env="T_SEED")
        assert (recipe.sealed, recipe.secret_seed()) == (True, SECRET)
        assert recipe.seed_entry() == {"kind": "sealed", "sha256": hashlib.sha256(SECRET.encode()).hexdigest()}
        assert SECRET not in json.dumps(recipe.resolved())

    def test_without_it_the_cure_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The variable's name and how to set it."""
        monkeypatch.delenv("T_SEED", raising=False)
        with pytest.raises(RecipeError, match=r"no T_SEED.*export T_SEED=\$\(spatialsplit new-seed\)"):
            recipe_of(seed=None, seed_env="T_SEED").secret_seed()

    @pytest.mark.parametrize("seed", ["secret", SECRET[:-1], SECRET + "|", SECRET + "\n"])
    def test_one_that_could_be_guessed_is_refused(self, seed: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Its commitment is public; and the message does not tell it."""
        monkeypatch.setenv("T_SEED", seed)
        with pytest.raises(RecipeError, match="too weak to be sealed: it must have at least 32") as caught:
            recipe_of(seed=None, seed_env="T_SEED").secret_seed()
        assert seed.strip() not in str(caught.value)


def test_the_resolved_recipe_names_no_folder_of_a_machine() -> None:
    """Absolute paths are their last part; equal recipes have equal hashes, others do not."""
    absolute = recipe_of(inputs=pa_of(path=["/home/somebody/pa.csv", "more/pb.csv"]))
    assert absolute.resolved()["inputs"]["pa"]["path"] == ["pa.csv", "more/pb.csv"]
    clean = {"near_centroid": "drop", "outside_area": "drop", "centroids": "/data/c.csv", "area": "a/b.gpkg"}
    files = recipe_of(draw={"extend": "/home/somebody/old.csv"}, clean=clean).resolved()
    assert (files["draw"]["extend"], files["clean"]["centroids"], files["clean"]["area"]) == (
        "old.csv",
        "c.csv",
        "a/b.gpkg",
    )
    assert recipe_of().sha256() == recipe_of(quadrats={"size_m": 5000}).sha256() != absolute.sha256()
