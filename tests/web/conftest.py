"""Fixtures of the tests of the server."""

import contextlib

import pytest
from starlette.testclient import TestClient

from geo_patrol.web.app import Server
from geo_patrol.web.tables import TableStore
from tests.support.full_disk import FullDisk


@pytest.fixture
def serve(tmp_path):
    """Return a function that starts a server on the folder, after it has ended the one before.

    Its arguments are those of ``Server``, the address of the client, and those of ``TableStore``. It returns a client
    with ``server``, its ``tables``, and ``connections``, which are closed with it.
    """
    with contextlib.ExitStack() as stack:

        def start(*, address="testclient", max_tables=200, own_agents=frozenset(), **options):
            stack.close()
            server = Server(TableStore(tmp_path, max_tables, own_agents), **options)
            client = stack.enter_context(TestClient(server.app(), client=(address, 50_000)))
            client.server, client.tables = server, server.tables
            client.connections = stack.enter_context(contextlib.ExitStack())
            return client

        yield start


@pytest.fixture
def client(serve):
    return serve()


@pytest.fixture
def disk():
    """The disk, which a test can fill."""
    with contextlib.closing(FullDisk()) as disk:
        yield disk
