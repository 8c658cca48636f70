"""A table and its server for state machines: what clients do and the time are handed in."""

import asyncio
import shutil
import tempfile
from pathlib import Path

from geo_patrol.replays import check, read_replay
from geo_patrol.web import protocol
from geo_patrol.web.table_server import TableServer
from geo_patrol.web.tables import NewTable, TableStore
from tests.support.coroutines import Loop


async def _at_once(work):
    work()


class ServedTable:
    """A table, its server, and the connections to it by side: that of None watches."""

    def open(self, **setup):
        self.folder, self.loop = Path(tempfile.mkdtemp()), Loop()
        self.now, self.connections = 1000.0, {}
        self.store = TableStore(self.folder / "0")
        self.table, self.secrets = self.store.open_table(NewTable(alpha="link", bravo="link", **setup))
        self.serve()

    def serve(self):
        async def start():
            self.server = TableServer(self.table, _at_once, _at_once, _at_once)
            self.server._now = lambda: self.now

        self.table = self.store.find(self.table.id)
        self.run(start())

    def run(self, work):
        """Run what a client or the server does; return why it was refused."""

        async def settle():
            try:
                await work
            except protocol.ProtocolError as error:
                return error.code
            finally:
                for _ in range(8):
                    await asyncio.sleep(0)
            return None

        return self.loop.run(settle())

    async def joining(self, side, last=0):
        hello = protocol.Hello(table=self.table.id, secret=side and self.secrets[side], last_event=last)
        self.connections[side] = await self.server.join(hello)

    async def departing(self, side):
        self.server.depart(self.connections.pop(side))

    async def pausing(self, *, is_paused):
        self.table.saved.is_paused = is_paused
        self.table.save()
        self.server.refresh()

    async def looking(self):
        self.server.notify()

    def close(self):
        self.loop.run(self.server.close())
        self.loop.close()
        self.store.close()
        if self.table.replay_path.exists():
            assert check(read_replay(self.table.replay_path)) is None
        shutil.rmtree(self.folder)
