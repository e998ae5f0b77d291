"""How the site is built: `make docs`. Pages are Markdown; the references are written from the code first."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import spatialsplit  # noqa: E402 - the repository has to be on the path first
from docs.reference_pages import write_pages  # noqa: E402

write_pages(HERE / "generated")
shutil.rmtree(HERE / "tutorial", ignore_errors=True)
shutil.copytree(HERE.parent / "notebooks", HERE / "tutorial", ignore=shutil.ignore_patterns("*.py", ".*", "__*"))

project = "spatialsplit"
author = copyright = "the spatialsplit developers"
release = version = spatialsplit.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md", "**/.ipynb_checkpoints"]
default_role = "code"

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
nb_execution_mode = "off"  # the tests run the notebooks; the site shows the outputs that are committed
nb_ipywidgets_js = {}  # nothing is fetched by a page

napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_typehints = "none"  # the docstrings give kind, shape and unit
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = "spatialsplit"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses from a file:// address
html_theme_options = {"footer_icons": [], "navigation_with_keys": True}


def setup(app: Sphinx) -> None:
    """Remove the copies of the notebooks' outputs that are left beside the site."""
    app.connect("build-finished", lambda app, error: shutil.rmtree(Path(app.outdir).parent / "jupyter_execute", True))
