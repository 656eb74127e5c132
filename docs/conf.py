"""Sphinx configuration. Build with `python -m sphinx -W -b html docs docs/_build/html`."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("MPLBACKEND", "agg")

import sklearn_rank  # noqa: E402

project = "sklearn-rank"
author = "the sklearn-rank developers"
copyright = "the sklearn-rank developers"
version = release = sklearn_rank.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "examples", "auto_examples/*.ipynb"]
templates_path = ["_templates"]
nitpicky = False

# ------------------------------------------------------------------------------------------ pages

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold functions

# -------------------------------------------------------------------------------------------- api

# The pages of the API are made from each room's __all__: no list of names to keep in step.
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the docstrings give types, with shapes and units
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists them
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

# ---------------------------------------------------------------------------------------- gallery

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "doc_module": ("sklearn_rank",),
    "reference_url": {"sklearn_rank": None},
    "min_reported_time": 0,
    "write_computation_times": False,
    "show_memory": False,
    "remove_config_comments": True,
}

# ------------------------------------------------------------------------------------------- html

html_theme = "pydata_sphinx_theme"
html_title = "sklearn-rank"
html_show_sourcelink = False
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False, "icon_links": []}
