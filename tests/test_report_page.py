"""The report in a real browser: nothing is asked for, the map answers, tables sort, also on paper and in the dark."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from spatialsplit.build import BuildReport
from tests.browsers import Opened, open_browser
from tests.report_pages import HOSTILE, PARTS, map_data, small

OpenPage = Callable[..., Opened]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start one browser for all tests here."""
    with open_browser() as started:
        yield started


@pytest.fixture
def open_page(browser: Any, built: BuildReport) -> Iterator[OpenPage]:
    """Give a function that opens the report of the virtual flora, or another page."""
    opened: list[Opened] = []

    def open_one(path: Path | None = None, **look: Any) -> Opened:
        opened.append(Opened(browser, path or built.folder / "report.html", **look))
        return opened[-1]

    yield open_one
    for page in opened:
        page.close()


def pixel_of(opened: Opened, i: int) -> tuple[float, float]:
    """Work out where on the canvas a quadrat lies, by the page's data and not by its script: all is seen, centred."""
    data = map_data(opened.page.content())
    box = opened.page.locator("#map-canvas").bounding_box()
    west, south, east, north = data["extent"]
    scale = 0.92 * min(box["width"] / (east - west), box["height"] / (north - south))
    across, up = ((data[name][i] + 0.5) * data["size"] for name in ("column", "row"))
    left = box["width"] / 2 + (across - (west + east) / 2) * scale
    return left, box["height"] / 2 - (up - (south + north) / 2) * scale


class TestQuiet:
    """A page from anybody's disk does nothing behind one's back."""

    @pytest.mark.parametrize("width", [390, 1280])
    def test_nothing_is_complained_of_and_nothing_is_asked_for(self, width: int, open_page: OpenPage) -> None:
        """One file, no error, no request but for itself, no sideways scrolling of the page."""
        opened = open_page(width=width)
        opened.page.mouse.wheel(0, 4000)
        assert opened.complaints == []
        assert len(opened.requests) == 1
        assert opened.requests[0].startswith("file://")
        assert opened.page.evaluate("document.documentElement.scrollWidth") == width

    def test_a_hash_makes_no_tower_on_a_phone(self, open_page: OpenPage) -> None:
        """In the tables of files it breaks into a few lines and not into dozens."""
        rows = open_page(width=390).page.locator("#recipe table tr")
        assert rows.count() > 10
        assert max(rows.evaluate_all("rows => rows.map((row) => row.offsetHeight)")) < 70

    def test_a_name_that_is_a_script_does_not_run(self, open_page: OpenPage, tmp_path: Path) -> None:
        """Neither as the page opens nor as the map answers."""
        quoted = HOSTILE.replace('"', '""').replace("{", "{{").replace("}", "}}")
        folder = small(tmp_path / "d", species=f'"{quoted}{{}}"', column=f'"{HOSTILE.replace(chr(34), chr(34) * 2)}"')
        opened = open_page(folder / "report.html")
        opened.page.locator("#map-canvas").press("ArrowRight")
        assert opened.complaints == []
        assert len(opened.requests) == 1
        assert "surveys" in opened.answer()
        assert opened.page.locator("img").count() == 0

    def test_the_command_of_a_quadrat_is_whole_whatever_the_seed(
        self, open_page: OpenPage, built: BuildReport, tmp_path: Path
    ) -> None:
        """It is there to be pasted into a shell: a quote in the seed does not end its word."""
        text = (built.folder / "report.html").read_text("utf-8")
        seed = f'"seed":"{built.manifest["seed"]["value"]}"'
        assert text.count(seed) == 1
        (tmp_path / "page.html").write_text(text.replace(seed, '"seed":"it\'s; touch x"'), "utf-8")
        opened = open_page(tmp_path / "page.html")
        opened.page.locator("#map-canvas").press("ArrowRight")
        words = shlex.split(opened.page.locator("#map-answer code").inner_text())
        assert words[:2] == ["printf", "%s"]
        assert words[2].startswith("it's; touch x|test|CRS3035RES5000m")

    def test_a_script_that_got_in_would_not_run(self, browser: Any, built: BuildReport, tmp_path: Path) -> None:
        """The policy is the second wall: only the page's own script has the right hash, and no picture is fetched."""
        text = (built.folder / "report.html").read_text("utf-8")
        bad = '<script>document.title = "mine"</script><img src="http://192.0.2.1/x.png" onerror="document.title = 1">'
        (tmp_path / "bad.html").write_text(text.replace("<main", f"{bad}<main"), "utf-8")
        opened = Opened(browser, tmp_path / "bad.html")
        assert "mine" not in opened.page.title()
        assert any("Content Security Policy" in line for line in opened.complaints)
        opened.close()


class TestTheMap:
    """It can be asked, moved, zoomed, by mouse, finger and key."""

    def test_a_click_tells_the_quadrat(self, open_page: OpenPage, built: BuildReport) -> None:
        """Label, subset and counts are those of quadrats.csv."""
        listed = pd.read_csv(built.folder / "public" / "quadrats.csv")
        opened = open_page()
        for i in (0, len(listed) // 2, len(listed) - 1, int(listed["subset"].eq("test").idxmax())):
            left, top = pixel_of(opened, i)
            opened.page.locator("#map-canvas").click(position={"x": left, "y": top})
            row = listed.loc[i]
            wanted = rf"{row['quadratId']} subset {row['subset']} surveys {row['n_surveys']:,}\b"
            assert re.match(wanted, opened.answer())

    def test_a_tap_on_a_phone_tells_the_quadrat(self, open_page: OpenPage, built: BuildReport) -> None:
        """A finger is wider than a quadrat, and still one is told."""
        opened = open_page(width=390, has_touch=True, is_mobile=True)
        data = map_data(opened.page.content())
        outermost = data["column"].index(min(data["column"]))
        left, top = pixel_of(opened, outermost)
        opened.page.locator("#map-canvas").tap(position={"x": left - 8, "y": top})
        assert "CRS3035RES5000m" in opened.answer()
        opened.page.locator("#map-canvas").tap(position={"x": left, "y": 2})
        assert "No quadrat with a survey is here" in opened.answer()

    def test_the_counts_of_removed_records_add_up(self, open_page: OpenPage, built: BuildReport) -> None:
        """What the map says of its quadrats, one by one, is what the filter removed in them."""
        removed = pd.read_csv(built.folder / "private" / "PO_removed.csv")
        opened = open_page()
        told = opened.page.evaluate(
            "() => { const view = new MapView(JSON.parse(document.getElementById('map-data').textContent));"
            " return [...view.nRemoved.values()].reduce((sum, n) => sum + n, 0); }"
        )
        assert told == len(removed)

    def test_keys_reach_every_quadrat(self, open_page: OpenPage) -> None:
        """Tab comes to the map, arrows go to the next quadrat, each is said aloud, Escape lets go."""
        opened = open_page()
        canvas = opened.page.locator("#map-canvas")
        canvas.focus()
        said = set()
        for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"):
            opened.page.keyboard.press(key)
            said.add(opened.answer().split(" ")[0])
        assert len(said) >= 3
        assert opened.page.locator("#map-answer").get_attribute("aria-live") == "polite"
        opened.page.keyboard.press("Escape")
        assert opened.answer().startswith("Nothing is chosen")

    def test_zooming_and_moving_change_the_picture(self, open_page: OpenPage) -> None:
        """By button, key and mouse; `show all` gives the first picture back."""
        opened = open_page()
        canvas = opened.page.locator("#map-canvas")
        pictures = [canvas.screenshot()]
        opened.page.locator("#map-in").click()
        pictures.append(canvas.screenshot())
        box = canvas.bounding_box()
        opened.page.mouse.move(box["x"] + 300, box["y"] + 200)
        opened.page.mouse.down()
        opened.page.mouse.move(box["x"] + 200, box["y"] + 260, steps=4)
        opened.page.mouse.up()
        pictures.append(canvas.screenshot())
        canvas.press("+")
        pictures.append(canvas.screenshot())
        assert len(set(pictures)) == 4
        assert "Nothing is chosen yet" in opened.answer()
        opened.page.locator("#map-all").click()
        opened.page.evaluate("document.activeElement.blur()")
        opened.page.mouse.move(0, 0)
        assert canvas.screenshot() == pictures[0]

    def test_a_quadrat_is_found_by_its_label(self, open_page: OpenPage, built: BuildReport) -> None:
        """Typed or pasted; one that is not there is said not to be."""
        label = pd.read_csv(built.folder / "public" / "quadrats.csv")["quadratId"].iloc[7]
        opened = open_page()
        opened.page.get_by_label("Find a quadrat").fill(label.lower())
        opened.page.keyboard.press("Enter")
        assert opened.answer().startswith(label)
        opened.page.get_by_label("Find a quadrat").fill("nowhere")
        opened.page.keyboard.press("Enter")
        assert 'No quadrat has "nowhere"' in opened.answer()

    def test_layers_can_be_hidden(self, open_page: OpenPage) -> None:
        """Each box of the legend takes its layer off the map."""
        opened = open_page()
        canvas = opened.page.locator("#map-canvas")
        for box in opened.page.locator("[data-layer]").all():
            before = canvas.screenshot()
            box.uncheck()
            assert canvas.screenshot() != before


class TestTables:
    """They sort."""

    def test_a_click_sorts_by_number_and_another_turns_it_round(self, open_page: OpenPage) -> None:
        """Numbers as numbers, 1,000 after 999; the state is said to screen readers."""
        opened = open_page()
        head = opened.page.locator("#dropped table thead th").nth(2)
        for order, sign in (("ascending", 1), ("descending", -1)):
            head.get_by_role("button").click()
            numbers = [int(cell.replace(",", "")) for cell in opened.column("#dropped .scroll >> nth=0", 2)]
            assert len(numbers) == 7
            assert numbers == sorted(numbers, key=lambda number: sign * number)
            assert head.get_attribute("aria-sort") == order

    def test_what_is_missing_stays_at_the_end_either_way(self, open_page: OpenPage) -> None:
        """A dash is no number: whoever sorts by the most sees the most first."""
        opened = open_page()
        table = "#environment .scroll >> nth=0"
        button = opened.page.locator(f"{table} >> thead th").last.get_by_role("button")
        for _ in ("ascending", "descending"):
            button.click()
            shifts = opened.column(table, 7)
            n_missing = shifts.count("–")
            assert 0 < n_missing < len(shifts)
            assert shifts[-n_missing:] == ["–"] * n_missing

    def test_words_sort_as_words_by_key_too(self, open_page: OpenPage) -> None:
        """The head of a column is a button: Enter works."""
        opened = open_page()
        button = opened.page.locator("#audit thead th").nth(1).get_by_role("button")
        button.focus()
        opened.page.keyboard.press("Enter")
        words = opened.column("#audit table", 1)
        assert len(words) == 13
        assert words == sorted(words, key=str.casefold)

    def test_every_head_of_every_table_sorts_without_complaint(self, open_page: OpenPage) -> None:
        """No table is a dead one."""
        opened = open_page()
        heads = opened.page.locator("table.sortable thead button")
        heads.evaluate_all("buttons => buttons.forEach((button) => button.click())")
        assert heads.count() > 30
        assert opened.complaints == []


class TestPaperAndLight:
    """Printed, in the dark, without scripts, read aloud."""

    def test_the_printed_page_has_all_parts(self, open_page: OpenPage) -> None:
        """Every part is seen; the map is a picture; what only a mouse can use is gone."""
        opened = open_page()
        opened.page.emulate_media(media="print")
        for part in PARTS:
            assert opened.page.locator(f"#{part} h2").is_visible()
        assert opened.page.locator(".static-map svg").is_visible()
        assert not opened.page.locator("#map-canvas").is_visible()
        assert not opened.page.locator("nav").is_visible()
        assert len(opened.page.pdf()) > 50_000

    def test_the_printed_recipe_is_whole(self, open_page: OpenPage) -> None:
        """Nothing is hidden in a box that scrolls."""
        opened = open_page()
        opened.page.emulate_media(media="print")
        cut = opened.page.locator("pre, .scroll").evaluate_all(
            "boxes => boxes.filter((box) => box.scrollHeight > box.clientHeight + 2).length"
        )
        assert cut == 0

    def test_the_dark_page_is_dark_and_printed_light(self, open_page: OpenPage) -> None:
        """By the person's own setting; on paper always light."""
        ground = "getComputedStyle(document.body).backgroundColor"
        light, dark = open_page(color_scheme="light"), open_page(color_scheme="dark")
        assert light.page.evaluate(ground) == "rgb(245, 244, 239)"
        assert dark.page.evaluate(ground) == "rgb(19, 21, 23)"
        dark.page.emulate_media(media="print", color_scheme="dark")
        assert dark.page.evaluate(ground) == "rgb(255, 255, 255)"
        assert dark.page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 30, 32)"

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_all_text_has_contrast(self, scheme: str, open_page: OpenPage) -> None:
        """4.5 to 1 or more (WCAG 2.2, 1.4.3) for every text against what lies behind it."""
        opened = open_page(color_scheme=scheme)
        assert opened.page.evaluate(POOR_CONTRAST) == []

    def test_without_scripts_the_page_is_whole(self, browser: Any, built: BuildReport) -> None:
        """The map is a picture then."""
        context = browser.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto((built.folder / "report.html").as_uri())
        assert page.locator(".static-map svg").is_visible()
        assert not page.locator("#map-canvas").is_visible()
        context.close()

    def test_what_can_be_used_has_a_name(self, open_page: OpenPage) -> None:
        """Every button, box, field, picture and scrolled region says what it is."""
        opened = open_page()
        nameless = opened.page.evaluate(
            "[...document.querySelectorAll('button, input, canvas, [role=img], [role=region], table')].filter((each) =>"
            " !(each.getAttribute('aria-label') || each.innerText || (each.labels && each.labels.length)"
            " || each.caption)).map((each) => each.outerHTML)"
        )
        assert nameless == []
        assert opened.page.locator("h1").count() == 1
        assert opened.page.locator("html").get_attribute("lang") == "en"


POOR_CONTRAST = """() => {
  const numbers = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  for (const each of document.querySelectorAll('body *')) {
    const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !each.getClientRects().length || ['SCRIPT', 'STYLE'].includes(each.tagName)) continue;
    const style = getComputedStyle(each);
    const ink = numbers(each instanceof SVGElement ? style.fill : style.color);
    const [one, other] = [light(ink), light(ground(each))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (other + 0.05);
    if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${each.tagName} ${each.textContent.trim().slice(0, 40)}`);
  }
  return [...new Set(poor)];
}"""
"""Finds text that is hard to read, by the formula of WCAG."""
