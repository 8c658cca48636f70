"""Names that people type: what is kept and shown of them, and which are the same."""

# ruff: noqa: RUF001 - letters that look like others are what is tested

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geo_patrol.base.errors import printable
from geo_patrol.base.sides import in_colors
from geo_patrol.web.names import name_key, player_name, read_name, versus
from geo_patrol.web.protocol import ProtocolError

PERSIAN = "می\u200cخواهم"
HINDI = "क्\u200dष"
FAMILY = "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥"
ENGLAND = "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"

letters = st.one_of(
    st.characters(codec="utf-8"),
    st.sampled_from("aé:\u0301 \u200c\u200d\u202e\u2066\u3164\ufe0f\U000e0100🏴\U000e0067\U000e007fक\n\x1b"),
)
names = st.one_of(st.text(letters, max_size=60), st.sampled_from(["Random", "search:1s", "turtle"]))


@pytest.mark.slow
@given(text=names)
def test_a_name_that_was_read_reads_as_itself(text):
    try:
        name = read_name(text)
    except ProtocolError:
        return
    assert read_name(name) == name
    assert len(name) <= 40
    with pytest.raises(ProtocolError, match="already"):
        read_name(text, [name])


@pytest.mark.parametrize("name", [PERSIAN, HINDI, FAMILY, ENGLAND, "葛\U000e0100城", "1\ufe0f\u20e3", "José", "Łódź"])
def test_what_shapes_letters_and_emoji_is_kept(name):
    assert read_name(name) == name
    assert printable(name, 80) == name
    assert str(ProtocolError("bad_message", name)) == name


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Ada \t\u3000 B.  ", "Ada B."),
        ("Jose\u200d\u0301", "José"),
        ("A\u200bd\u00ada\ufeff", "Ada"),
        ("\u202eadA\u2066\u200f", "adA"),
        ("A\u200dda", "Ada"),
        ("\u200dअ\u200c", "अ"),
        ("Ada\u3164\u2800", "Ada"),
        ("Ada\x1b[2J", r"Ada\x1b[2J"),
        ("=\u200b1+1", "=1+1"),
    ],
)
def test_what_nobody_sees_is_left_out(typed, kept):
    assert read_name(typed) == kept


@pytest.mark.parametrize(
    "name", ["", "  ", "\u3164", "\u115f\u1160", "\uffa0", "\u200b\u200d", "\u2800", "\ufe0f", "\u0301", "\u00ad\u2060"]
)
def test_names_of_which_nothing_can_be_seen_are_empty(name):
    with pytest.raises(ProtocolError, match="name must not be empty"):
        read_name(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("Ada B", "ada  b"),
        ("José", "Jose\u0301"),
        ("Ada", "Аda"),  # Cyrillic
        ("BOX", "ВОХ"),  # Cyrillic
        ("Nikos", "Νikοs"),  # Greek
        ("Ada", "\uff21da"),
        ("Ada", "A\u200dda"),
        (PERSIAN, PERSIAN.replace("\u200c", "")),
    ],
)
def test_names_that_look_alike_are_the_same(one, other):
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Ada", "Ada2"), ("José", "Jose"), ("Баба", "Вава"), ("Ольга", "Олга"), ("李", "季")]
)
def test_other_names_are_not(one, other):
    assert name_key(one) != name_key(other)


@pytest.mark.parametrize("name", ["R\u200dandom", "rаndom", "Random\u3164", "search\uff1a2s", "ran dom"])
def test_no_spelling_passes_for_an_agent(name):
    assert read_name(name).endswith(" (guest)")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("level:sputnik", "Sputnik"),
        ("games/bad.py:Bad", "Bad"),
        ("policy:base", "policy:base"),
        ("policy:runs/best.safetensors", "policy:best.safetensors"),
        ("Ada: L.", "Ada: L."),
    ],
)
def test_levels_and_classes_in_files_are_called_by_their_names_alone(name, shown):
    assert player_name(name) == shown
    assert versus([name, "raider"]) == f"{shown} (blue) against raider (gold)"


def test_sides_are_blue_and_gold_in_texts_of_pages():
    assert in_colors("alpha 3; bravo 4: alphabet") == "blue 3; gold 4: alphabet"
