"""Fixtures of the tests of the server."""

import contextlib

import pytest


@pytest.fixture
def tables(tmp_path):
    from geo_patrol.web.tables import TableStore

    return TableStore(tmp_path)


@pytest.fixture
def server(tables):
    from geo_patrol.web.app import Server

    return Server(tables)


@pytest.fixture
def client(server):
    """A client of a server, which has ``server`` and its ``tables``; ``connections`` are closed with it."""
    from starlette.testclient import TestClient

    with TestClient(server.app()) as client, contextlib.ExitStack() as client.connections:
        client.server, client.tables = server, server.tables
        yield client
