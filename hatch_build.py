"""What only a release knows: the address of the repository, which the package's page on PyPI links to.

GitHub's workflows set ``GITHUB_REPOSITORY``; without it, the metadata have no addresses.
"""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\]\()(?![a-z]+:)")
"""An image or a link of Markdown up to its target, which is relative."""


class Addresses(MetadataHookInterface):
    """Adds the project's addresses, and the description with links that lead to them."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``urls`` and ``readme``."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["urls"] = {}
        repository = os.environ.get("GITHUB_REPOSITORY")
        if repository:
            owner, _, name = repository.partition("/")
            source = f"https://github.com/{repository}"
            metadata["urls"] = {
                "Documentation": f"https://{owner}.github.io/{name}/",
                "Source": source,
                "Issues": f"{source}/issues",
                "Changelog": f"{source}/blob/main/CHANGELOG.md",
            }
            tag = f"v{metadata['version']}"
            text = LINK.sub(lambda link: f"{link[0]}{source}/{'raw' if link[1] else 'blob'}/{tag}/", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
