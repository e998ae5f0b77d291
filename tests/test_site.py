"""The documentation site: it builds without a warning, no link is broken, and a page asks nobody for anything."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

import spatialsplit
from spatialsplit.cli import COMMANDS, cli
from tests.browsers import open_browser
from tests.doc_world import REPOSITORY

FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src"), ("video", "src")}
"""What a browser asks for by itself; a link waits until somebody follows it."""

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


class Page(HTMLParser):
    """The addresses, the anchors and the pictures of a page."""

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()
        self.silent: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        for name, value in found.items():
            if (tag, name) in FETCHED:
                self.fetched.append(value)
            if name in ("href", "src"):
                self.links.append(value)
        if tag == "img" and not found.get("alt"):
            self.silent.append(found.get("src", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(folder / "trees"), "-b", "html"]
    done = subprocess.run([*command, "docs", str(folder / "html")], cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Read every page."""
    return {path.resolve(): Page(path) for path in site.rglob("*.html")}


def broken(pages: dict[Path, Page]) -> Iterator[str]:
    """Name each link to a file or an anchor that is not there."""
    for page in pages.values():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
            if not target.exists():
                yield f"{page.path.name}: {link}"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{page.path.name}: {link} has no such anchor"


def test_no_link_is_broken(pages: dict[Path, Page]) -> None:
    """Neither to a page nor to a place in it."""
    assert sorted(set(broken(pages))) == []


def test_a_broken_link_would_be_seen(tmp_path: Path) -> None:
    """The test itself: a page that is not there, an anchor that is not there, and none of what is."""
    (tmp_path / "a.html").write_text('<a href="b.html">1</a><a href="#x">2</a><a href="#y" id="y">3</a>')
    assert [each.split(": ")[1] for each in broken({(tmp_path / "a.html").resolve(): Page(tmp_path / "a.html")})] == [
        "b.html",
        "#x has no such anchor",
    ]


def test_a_page_asks_nobody_for_anything(site: Path, pages: dict[Path, Page]) -> None:
    """No font, script, picture or style comes from another host: the site works offline."""
    asked = {each for page in pages.values() for each in page.fetched if urlsplit(each).netloc}
    styles = {
        path.name
        for path in site.rglob("*.css")
        if re.search(r"""(url\(|@import)\s*["']?(https?:)?//""", path.read_text())
    }
    assert (asked, styles) == (set(), set())


def test_every_picture_has_a_text(pages: dict[Path, Page]) -> None:
    """For those who hear the page."""
    assert {page.path.name: page.silent for page in pages.values() if page.silent} == {}


def test_the_reference_has_every_command(site: Path) -> None:
    """And an example of it, and all of its options."""
    page = (site / "generated" / "commands.html").read_text()
    plain = re.sub(r"<[^>]+>", "", page)
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert f'id="{name}"' in page
        assert plain.count(f"spatialsplit {name}") >= 2
        assert not [
            option for param in command.params for option in param.opts if option[0] == "-" and option not in plain
        ]


def test_the_reference_has_every_public_name(pages: dict[Path, Page]) -> None:
    """Under the module where it stands."""
    anchors = set().union(*(page.anchors for page in pages.values()))
    homes = {name: home for home, names in spatialsplit._HOMES.items() for name in names}
    assert not [name for name in spatialsplit.__all__ if f"spatialsplit.{homes[name]}.{name}" not in anchors]


def test_no_page_names_a_place_on_the_machine_that_built_it(site: Path) -> None:
    """Neither in text nor in an output of a notebook."""
    here = str(REPOSITORY.resolve())
    assert not [path.name for path in site.rglob("*.html") if here in path.read_text()]


@pytest.mark.parametrize(
    "page", [REPOSITORY / "README.md", REPOSITORY / "benchmarks" / "README.md", *(REPOSITORY / "docs").glob("**/*.md")]
)
def test_links_between_files_of_the_repository_hold(page: Path) -> None:
    """Where pages are read without the site; tutorial and references are made when it is built."""
    if {"generated", "tutorial"} & set(page.relative_to(REPOSITORY).parts):
        return
    for link in LINK.findall(page.read_text("utf-8")):
        path = urlsplit(link).path
        if urlsplit(link).netloc or not path or {"tutorial", "generated"} & set(Path(path).parts):
            continue
        assert (page.parent / path).exists(), f"{page.name}: {link}"


def test_a_browser_asks_nobody_and_finds_what_is_searched(site: Path) -> None:
    """In Chromium, from a file:// address: no error, no request to a host, and the search knows Brazil."""
    asked: list[str] = []
    errors: list[str] = []
    with open_browser() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        for name in ("index.html", "generated/commands.html", "tutorial/2-block-size.html", "generated/api/plots.html"):
            page.goto((site / name).as_uri())
        page.goto(f"{(site / 'search.html').as_uri()}?q=Brazil")
        page.locator("#search-results a", has_text="My data is in Brazil").first.wait_for()
    assert errors == []
    assert {urlsplit(address).scheme for address in asked} <= {"file", "data"}
