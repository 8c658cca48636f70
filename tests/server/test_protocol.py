"""The messages and their document."""

import contextlib
import json
import os
import random
from pathlib import Path

import pytest

from geo_patrol.server.protocol import Orders, ProtocolError, read_client_message, schemas

NUM_MUTATED = int(os.environ.get("MUTATED_MESSAGES", "2000"))
ROOT = Path(__file__).parents[2]
VALID = [
    '{"type":"hello","version":1,"table":"ab12","secret":"x_y-z","last_event":3,"scene":true,"text":false}',
    '{"type":"orders","game":"ab12","turn":1,"phase":"movement","orders":["P1 prograde","P2 radial_in"]}',
    '{"type":"answer","game":"ab12","turn":1,"phase":"movement","text":"P1 prograde\\nnothing else"}',
    '{"type":"ping","number":4}',
    '{"type":"leave"}',
]


def test_the_document_has_the_current_schemas():
    text = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    written = text[text.rindex("```json\n") + 8 : text.rindex("\n```")]
    assert json.loads(written) == schemas(), "python scripts/write_protocol.py"


@pytest.mark.parametrize("text", VALID)
def test_valid_messages(text):
    assert json.loads(read_client_message(text).model_dump_json()) == json.loads(text) | (
        {"name": None} if "hello" in text else {}
    )


@pytest.mark.parametrize(
    ("change", "field"),
    [({"turn": "1"}, "turn"), ({"turn": 0}, "turn"), ({"other": 1}, "other"), ({"orders": ["x" * 61]}, "orders.0")],
)
def test_faults_name_the_field(change, field):
    message = Orders(game="a", turn=1, phase="movement", orders=[]).model_dump() | change
    with pytest.raises(ProtocolError, match=rf"^{field} = "):
        read_client_message(json.dumps(message))


def test_mutated_messages_raise_nothing_else():
    rng = random.Random(4)
    for _ in range(NUM_MUTATED):
        letters = list(rng.choice(VALID).encode())
        for _ in range(rng.randrange(1, 5)):
            letters[rng.randrange(len(letters))] = rng.randrange(256)
        with contextlib.suppress(ProtocolError):
            read_client_message(bytes(letters))
