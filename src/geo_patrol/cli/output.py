"""Files that commands write for other programs."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO

from geo_patrol.cli.errors import InputError
from geo_patrol.files import atomic_write


@contextmanager
def output_file(target: str) -> Iterator[TextIO]:
    """Open a file as ``atomic_write`` does.

    Raises:
        InputError: nothing can be written there.
    """
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(atomic_write(target))
        except OSError as error:
            raise InputError(f"{target} cannot be written: {error.strerror}") from None
        yield stream
