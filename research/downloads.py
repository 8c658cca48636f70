"""Files of a release, for ``geo_patrol.download``: how they are packed, and the package's list of them."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

from geo_patrol.base.downloads import DOWNLOADS, Download
from geo_patrol.base.files import atomic_path, atomic_write


def pack(path: Path, contents: Mapping[str, bytes]) -> None:
    """Write files by name into a ZIP file, in one folder that is called as it is. The same files are the same bytes."""
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(f"{path.stem}/{name}"), content)  # without the time


def enter(path: Path) -> None:
    """Enter a file, or another version of it, into the package's list."""
    listed = json.loads(DOWNLOADS.read_text(encoding="utf-8"))
    listed[path.stem] = Download.of(path).model_dump()
    with atomic_write(DOWNLOADS) as stream:
        stream.write(json.dumps(listed, indent=1, sort_keys=True) + "\n")
