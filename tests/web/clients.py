"""A client of the server: tables that are opened, and connections to them."""

import contextlib
import json

TABLE = {"preset": "king_of_the_hill", "seed": 11, "alpha": "link", "bravo": "link"}


def open_table(client, **setup):
    """Open a table; return its name and the secrets of its seats."""
    asked = {key: value for key, value in (TABLE | setup).items() if value is not None}
    answer = client.post("/api/tables", json=asked)
    assert answer.status_code == 201, answer.text
    return answer.json()["table"], answer.json()["secrets"]


class Connection:
    """A connection to a table, open as long as its client; it keeps the texts of all messages that it has received."""

    def __init__(self, client, table, secret=None, **hello):
        self.table, self.texts = table, []
        self._stack = client.connections.enter_context(contextlib.ExitStack())
        self.socket = self._stack.enter_context(client.websocket_connect(f"/ws/{table}"))
        self.send("hello", version=1, table=table, secret=secret, **hello)

    def send(self, kind, **message):
        """Send a message of a type."""
        self.socket.send_text(json.dumps({"type": kind, **message}))

    def order(self, turn, orders=()):
        """Send orders for the phase of a message that asks for them."""
        phase = {key: turn[key] for key in ("turn", "phase")}
        self.send("orders", game=self.table, **phase, orders=list(orders))

    def receive(self):
        """Return the next message."""
        self.texts.append(self.socket.receive_text())
        return json.loads(self.texts[-1])

    def wait_for(self, *kinds):
        """Return the next message of one of these types; none before it is an error."""
        while (message := self.receive())["type"] not in kinds:
            assert message["type"] != "error", message
        return message

    def drain(self):
        """Return all messages up to now."""
        self.send("ping", number=len(self.texts))
        messages = [self.receive()]
        while messages[-1]["type"] != "pong":
            messages.append(self.receive())
        return messages[:-1]

    @property
    def messages(self):
        """All messages up to now."""
        return [json.loads(text) for text in self.texts]

    def close(self):
        """Close the connection."""
        self._stack.close()


def play_phase_of(table):
    """Play the present phase of a table, with the orders that are in."""
    table.close_phase()
    table.play()
    table.finish_phase()


def play_to_the_end(table):
    """Play a game to its end without orders."""
    while not table.is_over:
        play_phase_of(table)


def events_of(table):
    """Return what has happened at a table."""
    return [table.event(number).event for number in range(1, table.num_events + 1)]
