"""Pages that are notebooks can be downloaded as such, and those of the published site be opened in Colab.

Colab reads notebooks from GitHub, so .github/workflows/docs.yml pushes them to a branch of the repository.
"""

import os
import posixpath
import re
from pathlib import Path
from typing import Any

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook

BRANCH = "notebooks"
INSTALL = '%pip install --quiet "geo_patrol[play,study]" pandas'
"""The first cell."""
_NOTEBOOK = re.compile(r"---\nfile_format: mystnb\n")
_TITLE = re.compile(r"^# .*\n", re.MULTILINE)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#]+)(#[^)]*)?\)")


def connect(sphinx: Any) -> None:
    """Let a Sphinx application link notebooks from their pages, and write them after the pages."""
    sphinx.connect("source-read", _link)
    sphinx.connect("build-finished", _write)


def _link(sphinx: Any, page: str, source: list[str]) -> None:
    if not _NOTEBOOK.match(source[0]):
        return
    name = posixpath.basename(page)
    links = f'<a href="{name}.ipynb" download>Download as a notebook</a>'
    if sphinx.config.html_baseurl:
        address = (
            f"https://colab.research.google.com/github/{os.environ['GITHUB_REPOSITORY']}/blob/{BRANCH}/{page}.ipynb"
        )
        badge = '<img src="https://colab.research.google.com/assets/colab-badge.svg" alt="Open in Colab">'
        links = f'<a href="{address}">{badge}</a> {links}'
    source[0] = _TITLE.sub(lambda title: f"{title[0]}\n{links}\n", source[0], count=1)


def _write(sphinx: Any, failure: Exception | None) -> None:
    if failure is not None or sphinx.builder.format != "html":
        return
    for page in sphinx.env.found_docs:
        text = Path(sphinx.env.doc2path(page)).read_text(encoding="utf-8")
        if _NOTEBOOK.match(text):
            if site := sphinx.config.html_baseurl:
                source = f"https://github.com/{os.environ['GITHUB_REPOSITORY']}/blob/v{sphinx.config.release}"
                text = with_addresses(text, page, site, source)
            made = read_myst_markdown_notebook(text)
            made.cells.insert(1, nbformat.v4.new_code_cell(INSTALL))
            nbformat.write(made, Path(sphinx.outdir, f"{page}.ipynb"))


def with_addresses(text: str, page: str, site: str, source: str) -> str:
    """Return a page whose links lead to the site, and those to files outside the documentation to the sources.

    Args:
        text: the page.
        page: its path below docs/.
        site: address of the site.
        source: address of the repository's files.
    """

    def absolute(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link[1]))
        if path.startswith("docs/") and path.endswith(".md"):
            return f"]({site.rstrip('/')}/{path.removeprefix('docs/').removesuffix('.md')}.html{link[2] or ''})"
        return f"]({source}/{path}{link[2] or ''})"

    return _LINK.sub(absolute, text)
