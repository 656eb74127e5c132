"""Sphinx configuration. Build with `python -m sphinx -W -b html docs docs/_build/html`."""

import inspect
import os
import re
import sys
from importlib import import_module
from pathlib import Path

from docutils import nodes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
os.environ.setdefault("MPLBACKEND", "agg")

import sklearn_rank  # noqa: E402
from sklearn_rank import _jit  # noqa: E402

project = "sklearn-rank"
author = "the sklearn-rank developers"
copyright = "the sklearn-rank developers"
version = release = sklearn_rank.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "_inventories",
    "_templates",
    "examples",
    "task_pages",
    "auto_examples/**/*.ipynb",
    "tasks/*.ipynb",
]
templates_path = ["_templates"]
nitpicky = False
toc_object_entries_show_parents = (
    "hide"  # the menu of a class has no room for its name
)

# ------------------------------------------------------------------------------------------ pages

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]  # sphinx-gallery's settings hold functions
copybutton_exclude = (
    ".linenos, .gp, .go"  # copies the code without prompts and output
)

# -------------------------------------------------------------------------------------------- api

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings give types, with shapes and units
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists them
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
# Inventories are kept in the repository, so that the build needs no network.
intersphinx_mapping = {
    "pandas": ("https://pandas.pydata.org/docs/", "_inventories/pandas.inv"),
    "python": ("https://docs.python.org/3/", "_inventories/python.inv"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "_inventories/scipy.inv"),
    "sklearn": ("https://scikit-learn.org/stable/", "_inventories/sklearn.inv"),
}

# ---------------------------------------------------------------------------------------- gallery

GROUPS = {  # in reading order
    "measures": ["score_generating_functions", "scoring", "displays"],
    "inference": [
        "intervals",
        "compare_rankers",
        "sample_size",
        "planned_labels",
        "accumulator",
        "agarwal_figures",
        "promised_precision",
        "selection_by_bound",
        "back_test",
    ],
    "training": [
        "first_ranker",
        "rules_differ",
        "accuracy_at_top_certificate",
        "position_bias",
        "label_ranking",
    ],
    "benchmarks": [
        "top_of_list_rankers",
        "top_of_list_sets",
        "query_rankers",
        "interval_coverage",
        "error_rates",
    ],
}
TASKS = [
    "fraud_and_screening.py",
    "search_ranking.py",
    "flag_and_promise.py",
    "reviewed_rows.py",
]


def reading_order(name):
    """Key that sorts the scripts of a folder: as listed above."""
    examples = (f"plot_{name}.py" for names in GROUPS.values() for name in names)
    return [*TASKS, *examples].index(name)


def without_notice(gallery_conf, name):
    """Leave the notice of compiling out of the output of an example, in every process."""
    _jit._reported.set()


sphinx_gallery_conf = {
    "examples_dirs": ["task_pages", "examples"],
    "gallery_dirs": ["tasks", "auto_examples"],
    "within_subsection_order": reading_order,
    "subsection_order": [f"examples/{group}" for group in GROUPS],
    "filename_pattern": r"(/plot_|/task_pages/)",
    "abort_on_example_error": True,
    "backreferences_dir": "api/backreferences",
    "capture_repr": ("_repr_html_",),  # tables, not the addresses of artists
    "download_all_examples": False,
    "doc_module": ("sklearn_rank",),
    "reference_url": {"sklearn_rank": None},
    "min_reported_time": 0,
    "parallel": 2,
    "reset_modules": ("matplotlib", without_notice),
    "thumbnail_size": (400, 280),
    "write_computation_times": False,
    "show_memory": False,
    "remove_config_comments": True,
}

# ------------------------------------------------------------------------------------------- html

html_theme = "pydata_sphinx_theme"
html_title = "sklearn-rank"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["custom.css"]
# Pages that stand alone need no column of neighbours.
html_sidebars = {
    page: []
    for page in (
        "index",
        "install",
        "glossary",
        "development",
        "changelog",
    )
}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "icon_links": [
        {
            "name": "Source",
            "url": "https://github.com/sklearn-rank/sklearn-rank",
            "icon": "fa-brands fa-github",
        }
    ],
}


def add_unlisted(app, docname, source):
    """Document what the modules of a page offer, and it has under no heading, at its end."""
    if not re.fullmatch(r"api/\w+", docname):
        return
    listed = re.findall(r"^   (\w+)$", source[0], re.M)
    for module in re.findall(r"^\.\. currentmodule:: (\S+)$", source[0], re.M):
        heading = f"\nMore\n----\n\n.. currentmodule:: {module}\n"
        for name in sorted({*import_module(module).__all__} - {*listed}):
            thing = getattr(import_module(module), name)
            if callable(thing):
                kind = "class" if inspect.isclass(thing) else "function"
                template = HERE / "_templates" / "autosummary" / f"{kind}.rst"
                directive = template.read_text(encoding="utf-8").split("\n\n")[2]
                source[0] += (
                    f"{heading}\n{directive.replace('{{ objname }}', name)}\n"
                )
                heading = ""


def tidy(app, doctree):
    """Take ndcg@10 for no address of mail, and keep a number and its error on one line."""
    for reference in list(doctree.findall(nodes.reference)):
        if reference.get("refuri", "").startswith("mailto:"):
            reference.replace_self(nodes.Text(reference.astext()))
    for text in list(doctree.findall(nodes.Text)):
        if " ± " in text and not isinstance(text.parent, nodes.literal_block):
            text.parent.replace(
                text,
                nodes.Text(
                    text.replace(" ± ", "\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}")
                ),
            )


def formula(display):
    """Visitor that writes formulas as MathML, which browsers draw without a script."""
    from latex2mathml.converter import convert

    def visit(translator, node):
        latex = node.astext()
        if display == "block" and r"\\" in latex:
            latex = rf"\begin{{split}}{latex}\end{{split}}"
        translator.body.append(convert(latex, display=display))
        raise nodes.SkipNode

    return visit


def setup(app):
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(formula("inline"), None),
        block_renderers=(formula("block"), None),
    )
    app.connect("source-read", add_unlisted)
    app.connect("doctree-read", tidy)
