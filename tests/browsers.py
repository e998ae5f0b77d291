"""A real browser for the tests: Chromium without a window, where the machine has one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SETTINGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"]
"""Containers run as root, which Chromium allows without its sandbox only, and have little shared memory."""


def chromium() -> str:
    """Give the path of Chromium, or skip the test; on the build machine (CI=true) fail instead."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        why = f"There is no browser: none of {', '.join(NAMES)} is installed (Debian: apt-get install chromium)."
        if os.environ.get("CI", "").casefold() == "true":
            pytest.fail(why)
        pytest.skip(why)
    return found


@contextmanager
def open_browser() -> Iterator[Any]:
    """Start Chromium and give it; pages are opened in contexts of their own."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=SETTINGS)
        yield browser
        browser.close()


class Opened:
    """A page in the browser with all that it said and asked for.

    Attributes
    ----------
    page : Page of playwright
    complaints : list of str
        Errors and warnings of the console.
    requests : list of str
        Addresses that were asked for.
    """

    def __init__(self, browser: Any, path: Path, *, width: int = 1280, **look: Any):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **look)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("document.documentElement.classList.contains('scripted')")

    def column(self, table: str, column: int) -> list[str]:
        """Give the cells of one column of a table, from top to bottom."""
        rows = self.page.locator(f"{table} >> tbody tr")
        cells: list[str] = rows.evaluate_all(f"rows => rows.map((row) => row.cells[{column}].innerText.trim())")
        return cells

    def answer(self) -> str:
        """Give what the map says of the chosen quadrat."""
        return " ".join(str(self.page.locator("#map-answer").inner_text()).split())

    def close(self) -> None:
        """Close the page."""
        self.context.close()
