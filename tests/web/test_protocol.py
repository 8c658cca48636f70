"""The messages and their document."""

import json
import re
from pathlib import Path

import pytest

from geo_patrol.web.protocol import Orders, ProtocolError, read_client_message, schemas

ROOT = Path(__file__).parents[2]
VALID = [
    '{"type":"hello","version":1,"table":"ab12","secret":"x_y-z","last_event":3,"scene":true,"text":false}',
    '{"type":"orders","game":"ab12","turn":1,"phase":"movement","orders":["P1 prograde","P2 radial_in"]}',
    '{"type":"answer","game":"ab12","turn":1,"phase":"movement","text":"P1 prograde\\nnothing else"}',
    '{"type":"ping","number":4}',
    '{"type":"leave"}',
    '{"type":"resign"}',
    '{"type":"draw","offer":false}',
]


def test_the_example_of_the_document_has_the_fields_of_its_messages():
    lines = re.findall(
        r"^([<>]) (.*)$", (ROOT / "docs" / "reference" / "protocol.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(lines) > 10
    models = {name.lower(): model for name, model in schemas()["$defs"].items()}
    for direction, text in lines:
        if direction == ">":
            read_client_message(text)
        else:
            message = json.loads(text)
            assert set(message) == set(models[message["type"].replace("_", "")]["properties"])


@pytest.mark.parametrize("text", VALID)
def test_valid_messages(text):
    assert json.loads(read_client_message(text).model_dump_json()) == json.loads(text) | (
        {"name": None, "screen": "wide"} if "hello" in text else {}
    )


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"turn": "1"}, "turn must be an integer, got '1'"),
        ({"turn": 0}, "turn must be at least 1, got 0"),
        ({"other": 1}, "other = 1: there is no such key"),
        ({"orders": ["x" * 61]}, "orders.0 must have a length of at most 60, got 'xxx"),
    ],
)
def test_faults_name_the_field(change, fault):
    message = Orders(game="a", turn=1, phase="movement", orders=[]).model_dump() | change
    with pytest.raises(ProtocolError, match=f"^{fault}"):
        read_client_message(json.dumps(message))
