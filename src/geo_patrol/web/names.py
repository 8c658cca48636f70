"""Names that people type: one form in which they are kept, and one in which they are compared."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

from geo_patrol.agents.levels import read_levels
from geo_patrol.agents.registry import agent_names
from geo_patrol.base.errors import JOINED, printable
from geo_patrol.base.sides import COLORS
from geo_patrol.web.protocol import ProtocolError

_MAX_NAME = 40
_GUEST = " (guest)"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Unicode's Default_Ignorable_Code_Point: joiners, marks of direction, fillers, variation selectors, tags."""
_VARIANT = "[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
_SEEN = rf"[^\s{_INVISIBLE}]"
_UNSEEN = re.compile(rf"((?<={_SEEN}){_VARIANT}(?:{JOINED})?|{JOINED})|[{_INVISIBLE}]")
"""What shapes a character that is seen is its group: variants, and joiners between two. The rest is left out."""
_ALL_INVISIBLE = re.compile(rf"[{_INVISIBLE}\s]")
_BLANK = str.maketrans({"\u2800": " "})  # a Braille cell without dots
_LOOK_ALIKE = str.maketrans(
    "авеһікмнорԛѕтԝухѵјӏαβεζηικμνορτυχօոս",  # Cyrillic, Greek and Armenian
    "abehikmhopqstwyxvjlabezhikmnoptyxonu",
)
"""Small letters of other alphabets that look like Latin ones, or whose capitals do."""


def read_name(text: str, taken: Iterable[str] = ()) -> str:
    """Return a name as it is kept and shown: composed, on one line, without what nobody sees; what is no character is escaped.

    A name that means an agent is marked, so that nobody takes a person for one. What is returned for a name that was
    returned is that name.

    Args:
        text: what somebody has typed.
        taken: the names of the others.

    Raises:
        ProtocolError: nothing of it can be seen, or it is somebody else's.
    """
    name = printable(_shown(text), _MAX_NAME)
    if not any(unicodedata.category(letter)[0] in "LNPS" for letter in name_key(name)):
        raise ProtocolError("bad_message", "name must not be empty")
    if name_key(name.removesuffix(_GUEST)).partition(":")[0] in _agent_names():
        name = f"{_shown(name.removesuffix(_GUEST)[: _MAX_NAME - len(_GUEST)])}{_GUEST}"
    if name_key(name) in map(name_key, taken):
        raise ProtocolError("no_seat", f"name: there is a '{name}' already; add a letter")
    return name


def _shown(text: str) -> str:
    seen = _UNSEEN.sub(r"\1", " ".join(text.translate(_BLANK).split()))
    return unicodedata.normalize("NFC", " ".join(seen.split()))


@cache
def _agent_names() -> frozenset[str]:
    return frozenset(map(name_key, {*(one.name for one in read_levels()), *agent_names()}))


def player_name(name: str) -> str:
    """Return how pages call an agent or a person: levels and classes in files by their names alone, policies without folders."""
    kind, _, rest = name.partition(":")
    if kind == "policy":
        return "policy:" + re.split(r"[/\\]", rest)[-1]
    return rest.capitalize() if kind == "level" else (rest or name) if kind.endswith(".py") else name


def versus(names: Iterable[str]) -> str:
    """Return who plays whom, given the names of alpha and bravo; people without a name are called by their color."""
    players = zip(names, COLORS.values(), strict=True)
    return " against ".join(
        color.capitalize() if name == "person" else f"{player_name(name)} ({color})" for name, color in players
    )


def name_key(name: str) -> str:
    """Return what two names have in common that look alike: no case, width, ligatures, spaces, nor letters that nobody sees."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return _ALL_INVISIBLE.sub("", folded.translate(_BLANK)).translate(_LOOK_ALIKE)
