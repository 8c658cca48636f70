"""Random damage to files and messages, for ``fuzz_files.py`` and ``fuzz_server.py``."""

import gzip
import random
import re

HOSTILE = [
    *(b"\x1b[2J", b"\x9b31m", b"\xe2\x80\xae", b"\xed\xa0\x80", b"\x00", b"\r\n", b"\n", b'"', b"\\", b"'" * 3),
    *(b"-1", b"0", b"1e999", b"nan", b"inf", b"-inf", b"9" * 20, b"9" * 5000, b"0.1e-400"),
    *(b"true", b"null", b"{}", b"[]"),
    *(b"[" * 2000, b'{"a":' * 2000, b"a." * 2000, b"x" * 70_000, b"extends = '/dev/zero'\n", b"__class__", b"..", b"~"),
]
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Return content with one to four random changes; packed content is changed before or after it is packed."""
    if content[:2] == b"\x1f\x8b" and rng.random() < 0.7:
        return gzip.compress(mutate(gzip.decompress(content), rng), 1)
    for _ in range(rng.randint(1, 4)):
        content = rng.choice(CHANGES)(content, rng)
    return content


def insert(content: bytes, rng: random.Random) -> bytes:
    """Insert a hostile text."""
    at = rng.randint(0, len(content))
    return content[:at] + rng.choice(HOSTILE) + content[at:]


def replace_number(content: bytes, rng: random.Random) -> bytes:
    """Replace a number by a hostile text."""
    numbers = list(NUMBER.finditer(content[:20_000]))
    if not numbers:
        return content
    number = rng.choice(numbers)
    return content[: number.start()] + rng.choice(HOSTILE) + content[number.end() :]


def flip(content: bytes, rng: random.Random) -> bytes:
    """Change a byte."""
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def cut(content: bytes, rng: random.Random) -> bytes:
    """Remove a piece."""
    start, stop = sorted(rng.randint(0, len(content)) for _ in range(2))
    return content[:start] + content[stop:] if rng.random() < 0.5 else content[:start] + content[start + 8 :]


def repeat(content: bytes, rng: random.Random) -> bytes:
    """Repeat a piece, of which some copies may be many."""
    start, stop = sorted(rng.randint(0, len(content)) for _ in range(2))
    return content[:start] + content[start : min(stop, start + 4000)] * rng.choice([1, 2, 50]) + content[start:]


def swap_lines(content: bytes, rng: random.Random) -> bytes:
    """Put the lines into another order."""
    lines = content.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines)


CHANGES = (insert, replace_number, replace_number, flip, cut, repeat, swap_lines)
