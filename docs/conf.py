"""How Sphinx builds the documentation: ``make docs``."""

import json
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import notebooks
import site_pages

import geo_patrol

project = "geo_patrol"
author = "The geo_patrol developers"
project_copyright = f"2026, {author}"
version = release = geo_patrol.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["build"]
templates_path: list[str] = []

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "notebooks")
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
profile = HERE.parent / "build" / "ipython" / "profile_default"
profile.mkdir(parents=True, exist_ok=True)
# What commands print would come in pieces of a hundred characters, each of them a block of its own: it is passed on whole, and
# without the colors and progress bars of a terminal.
BASH = """
import os, subprocess
os.environ.pop("FORCE_COLOR", None)
get_ipython().register_magic_function(
    lambda line, cell: print(subprocess.run(["bash", "-c", cell], check=True, stdout=-1, text=True).stdout, end=""), "cell", "bash"
)
"""
# Kernels warn, one for each notebook, that their sockets on this machine are not encrypted: they log errors only.
(profile / "ipython_kernel_config.py").write_text(
    f"c.IPKernelApp.log_level = 'ERROR'\nc.InteractiveShellApp.exec_lines = [{BASH!r}]\n", encoding="utf-8"
)
os.environ["IPYTHONDIR"] = str(profile.parent)
# Notebooks run the commands of the package that is documented.
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])

autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_mock_imports = site_pages.EXTRAS
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False

html_theme = "pydata_sphinx_theme"
html_title = f"geo_patrol {release}"
html_baseurl = os.environ.get("DOCS_URL", "")  # the site's public address, which pages give as their canonical one
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version", "theme-version"],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app: Any) -> None:
    """Write the pages that are made from the package: environments, presets, commands, public names."""
    site_pages.connect(app)
    notebooks.connect(app)
    app.connect("build-finished", write_texts)


def write_texts(app: Any, failure: Exception | None) -> None:
    """Write the texts of all pages, from which ``site.js`` takes the excerpts of search results where there is no server."""
    if failure is None and app.builder.format == "html":
        texts = {name: " ".join(app.env.get_doctree(name).astext().split()) for name in sorted(app.env.found_docs)}
        script = f"window.SITE_TEXTS = {json.dumps(texts, ensure_ascii=False)};\n"
        (Path(app.outdir) / "_static" / "texts.js").write_text(script, encoding="utf-8")
