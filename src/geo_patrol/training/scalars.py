"""Scalars of a training run for TensorBoard, if it is installed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


class ScalarWriter:
    """Writes scalars as TensorBoard event files; does nothing where TensorBoard is not installed.

    Args:
        folder: folder of the event files.
    """

    def __init__(self, folder: Path) -> None:
        self._writer = _open_writer(folder)

    def write(self, scalars: Mapping[str, float], step: int) -> None:
        """Write scalars by their tags, such as ``losses/entropy``."""
        if self._writer is not None:
            for tag, value in scalars.items():
                self._writer.add_scalar(tag, value, step)

    def close(self) -> None:
        """Flush and close the file."""
        if self._writer is not None:
            self._writer.close()


def _open_writer(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 - needs TensorBoard, which is optional
    except ImportError:
        return None
    return SummaryWriter(str(folder))
