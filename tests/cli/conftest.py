"""Fixtures of the tests of commands."""

import pytest

from tests.conftest import compile_ahead


@pytest.fixture(autouse=True, scope="session")
def _compiled_code():
    """Commands that compile say so on standard error, where tests want nothing else."""
    compile_ahead()
