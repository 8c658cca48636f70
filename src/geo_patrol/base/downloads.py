"""Downloads: files too large for the package, which are taken from the release of its version, checked, and kept."""

import hashlib
import io
import os
import tempfile
import urllib.request
import zipfile
from functools import cache
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from geo_patrol.base.errors import GeoPatrolError, suggest
from geo_patrol.base.files import read_limited, sync_folder, user_cache_folder
from geo_patrol.base.versions import __version__

DOWNLOADS = Path(__file__).with_name("downloads.json")
"""What can be downloaded; the programs in research/ that make the files write it."""
VARIABLE = "GEO_PATROL_DOWNLOADS"
_SECONDS = 60.0


class Download(BaseModel):
    """A ZIP file of a release.

    Attributes:
        file: its name.
        size: in bytes.
        sha256: of its content.
    """

    model_config = ConfigDict(extra="forbid")

    file: str = Field(pattern=r"^[\w.-]+\.zip$")
    size: int = Field(gt=0)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")

    @classmethod
    def of(cls, path: Path) -> "Download":
        """Return what a file would be as a download."""
        content = path.read_bytes()
        return cls(file=path.name, size=len(content), sha256=hashlib.sha256(content).hexdigest())


@cache
def downloads() -> dict[str, Download]:
    """Return what can be downloaded, by name."""
    return TypeAdapter(dict[str, Download]).validate_json(DOWNLOADS.read_bytes())


def download(name: str) -> Path:
    """Return the folder of a download. It is taken from the release of this version, on GitHub, the first time, and then kept.

    Nothing is unpacked unless its SHA-256 is the one that the package knows. Without a network, save the file of the release
    anywhere, and set the environment variable ``GEO_PATROL_DOWNLOADS`` to its folder; it may be another address as well.

    Args:
        name: such as "geo_patrol-scripted-v0", a data set for offline learning.

    Raises:
        GeoPatrolError: there is no such download, it cannot be read, or is another one.
        OSError: the folder in which it is kept cannot be written.
    """
    found = downloads().get(name)
    if found is None:
        hint = suggest(name, downloads()) or "."
        raise GeoPatrolError(f"there is no download {name!r}{hint} There are: {', '.join(downloads())}.")
    folder = user_cache_folder() / "downloads" / f"{name}-{found.sha256[:16]}"
    if not folder.is_dir():
        content = _read(found)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=folder.parent) as temporary:
            zipfile.ZipFile(io.BytesIO(content)).extractall(temporary)
            try:
                Path(temporary, name).rename(folder)  # its only folder
            except OSError:
                if not folder.is_dir():  # otherwise another process was faster
                    raise
        sync_folder(folder.parent)
    return folder


def _read(found: Download) -> bytes:
    """Return the content of a file, which is checked."""
    source = f"{_home()}/{found.file}"
    try:
        if "://" in source:
            with urllib.request.urlopen(source, timeout=_SECONDS) as stream:  # noqa: S310 - the content is checked
                content: bytes = stream.read(found.size + 1)
        else:
            content = read_limited(source, found.size)
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise GeoPatrolError(
            f"{source} ({found.size / 1e6:.1f} MB) cannot be read: {reason}; "
            f"{VARIABLE} may be a folder that has the file, or another address"
        ) from error
    digest = hashlib.sha256(content).hexdigest()
    if digest != found.sha256:
        size = f"more than {found.size:,}" if len(content) > found.size else f"{len(content):,}"
        raise GeoPatrolError(
            f"{source} is not the file of geo_patrol {__version__}: it must have {found.size:,} bytes and the SHA-256 "
            f"{found.sha256}, got {size} bytes and {digest}"
        )
    return content


def _home() -> str:
    """Return the folder or the address that has the files."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return chosen.rstrip("/")
    try:
        addresses = metadata("geo_patrol").get_all("Project-URL") or []
    except PackageNotFoundError:
        addresses = []
    for address in addresses:
        label, _, source = address.partition(", ")
        if label == "Source":
            return f"{source}/releases/download/v{__version__}"
    raise GeoPatrolError(
        f"this installation does not know the address of its release: set {VARIABLE} to it, or to a folder that has its files"
    )
