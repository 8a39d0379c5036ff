"""How the pages are built: `make docs` writes them to out/docs."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path


def _quiet_kernels() -> str:
    """A folder, for the time of the build, with settings of the kernels that run the pages: report errors only."""
    folder = Path(tempfile.mkdtemp(prefix="sekant-docs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    profile = folder / "profile_default"
    profile.mkdir()
    (profile / "ipython_kernel_config.py").write_text('get_config().IPKernelApp.log_level = "ERROR"\n')
    return str(folder)


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "tools"))
os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ.get("PATH", "")
os.environ["COLUMNS"] = "100"
os.environ["SEKANT_PROGRESS"] = "0"  # pages look the same however busy the machine is
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # pages run in parallel, and their matrices are small
os.environ["IPYTHONDIR"] = _quiet_kernels()
logging.getLogger("traitlets").setLevel(logging.WARNING)

from sekant.version import __version__  # noqa: E402

project = "Sekant"
author = "the Sekant authors"
copyright = author
version = release = __version__

extensions = ["myst_nb", "formulas"]
exclude_patterns = ["tools", "looks"]
html_theme = "furo"
html_title = "Sekant"
html_static_path = ["looks"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"
html_show_sphinx = False

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600  # s; on a new machine the loops of the solvers are compiled first
nb_merge_streams = True

suppress_warnings = ["config.cache"]


def setup(app):
    app.connect("builder-inited", _place_players)
    app.connect("source-read", _prepare)
    app.connect("env-before-read-docs", _spread)


def _place_players(app) -> None:
    """players.py writes into the site itself, so that a later build finds the players of unchanged pages there."""
    os.environ["SEKANT_DOCS_PLAYERS"] = str(app.outdir)


def _spread(app, env, names: list[str]) -> None:
    """Pages that take long are neighbors in the alphabet; processes that read pages in parallel share them."""
    names[:] = [name for first in range(5) for name in names[first::5]]


def _prepare(app, name: str, source: list[str]) -> None:
    """Fill in what is made when pages are built, and make their blocks run."""
    from pages import as_notebook, filled

    if (HERE / f"{name}.md").is_file():
        source[0] = as_notebook(filled(source[0]))
