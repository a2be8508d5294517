"""A quoted figure stands in its words, and where another record has it, in that too."""

import hashlib
import json
import math
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from stacklib.evidence import ledger
from stacklib.quantity.files import held
from stacklib.quantity.records import Quote, quotes

# Lines whose figure another record holds too, which who edits this file leaves as it
# is: a claim of the ledger, quoted whole, or a result file. They may only become more.
WITNESSED = 83
# Lines whose words name only a place, as they were read: none joins them, for a new
# line's words hold its figure. Who reads such a document again seals them anew.
SEALED, SEAL, SEEN = 101, "12ce126e47aa", "2026-11-30"
WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
SIZES = {word: float(at) for at, word in enumerate(WORDS, 1)}
SIZES |= {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60}
SIZES |= {"dozen": 12, "hundred": 100, "half": 0.5, "third": 1 / 3, "twice": 2}
SIZES |= {"double": 2, "doubling": 2, "single": 1, "fifth": 0.2, "quarter": 0.25}
NUMBER = re.compile(
    rf"(?<![\d.])\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(SIZES)})(?=s?\b)", re.I
)
RESULT = re.compile(r"\bbenchmarks/results/\w+\.json")
PREFIXES = [10.0**power for power in (-12, -9, -6, -3, -2, 0, 2, 3, 6, 9, 12)]


def numbers(text: str) -> list[float]:
    """The numbers of a text, in digits or words."""
    found = (word.lower().replace(",", "") for word in NUMBER.findall(text))
    return [SIZES[word] if word in SIZES else float(word) for word in found]


def reached(words: list[float]) -> Iterator[float]:
    """What words come to: each number, their sum, two of them in one step."""
    yield from words
    yield sum(words)
    for a, b in permutations(words[:8], 2):
        yield from (a * b, a + b, a - b, a / b if b else a)


def holds(row: Quote, words: list[float]) -> bool:
    """Whether a line's value is one of these, in any prefix or in percent."""
    value = float(row.value)
    return any(
        math.isclose(one * prefix, value, rel_tol=5e-4)
        for one in reached(words)
        for prefix in PREFIXES
    )


def words_hold(row: Quote) -> bool:
    """Whether its place and what it says hold its value."""
    return holds(row, numbers(f"{row.place} | {row.says}"))


def fields(value: object) -> Iterator[float]:
    """The numbers of a result file that have names."""
    if isinstance(value, dict):
        yield from (float(x) for x in value.values() if isinstance(x, int | float))
    parts = value.values() if isinstance(value, dict) else value
    for part in parts if isinstance(value, dict | list) else ():
        yield from fields(part)


def witness(row: Quote) -> list[float] | None:
    """What another record says: the claim quoted whole, or the result file named."""
    texts = (claim.text for claim in ledger.load() if claim.source == row.document)
    if row.place and any(row.place.startswith(text) for text in texts):
        return numbers(row.place)
    digits = len(row.value.replace(".", "").lstrip("0"))
    if digits < 2 or not (named := RESULT.search(row.document)):
        return None  # a single digit stands in any file
    kept = json.loads((held(named[0]) / named[0]).read_text("utf-8"))
    return [float(f"{x:.{digits}g}") for x in fields(kept)]


def witnessed(row: Quote) -> bool:
    """Whether another record than this file holds a line's value as well."""
    found = witness(row)
    return found is not None and holds_one(row, found)


def holds_one(row: Quote, words: list[float]) -> bool:
    """Whether a line's value is one of these, in any prefix."""
    ends = {one * prefix for one in words for prefix in PREFIXES}
    return any(math.isclose(end, float(row.value), rel_tol=1e-9) for end in ends)


def read() -> list[Quote]:
    """Every line that a document says; ours have their reason instead."""
    return [row for row in quotes().values() if not row.why]


def sealed(rows: list[Quote]) -> tuple[int, str]:
    """How many lines no words hold; what they say, and units, as one short code."""
    bare = [row for row in rows if not (words_hold(row) or witnessed(row))]
    said = [(r.key, r.document, r.place, r.says, r.value, r.unit) for r in bare]
    said += [(r.key, r.unit) for r in rows if r not in bare and r.seen <= SEEN]
    lines = "\n".join(map("|".join, said))
    return len(bare), hashlib.sha256(lines.encode()).hexdigest()[:12]


def test_a_line_holds_its_figure_or_stands_as_it_was_read():
    assert sealed(read()) == (SEALED, SEAL), (
        "a line of quotes.csv moved: its place or words do not hold its value (as of "
        f"{[row.key for row in read() if row.seen > SEEN and not words_hold(row)]}), "
        "or it is one of those that were sealed; read the document again"
    )


def test_lines_with_another_record_only_become_more():
    assert sum(map(witnessed, read())) == WITNESSED


def test_a_value_and_its_words_edited_together_are_seen():
    """Where another record has the figure: neither the claim nor the file moved."""
    rows = [row for row in read() if witnessed(row)]
    for row in rows:
        value = f"{3 * float(row.value):.4g}"
        digits = re.sub(r"\d", lambda d: str((int(d[0]) + 3) % 10), row.place)
        for edit in ({"value": value}, {"value": value, "place": f"{value}: {digits}"}):
            assert not witnessed(replace(row, **edit)), row.key


def test_an_edited_line_is_seen():
    """Its value, its unit where no words hold it, or a digit in its words."""
    chance, rows = random.Random(37), read()
    plain = {row.key for row in rows if not words_hold(row)}
    missed = tried = 0
    for row in rows:
        value = f"{float(row.value) * chance.uniform(1.1, 8):.3g}"
        edits = [replace(row, value=value)]
        if row.key not in plain and holds(row, numbers(row.place)):
            digits = re.sub(r"\d", lambda d: str((int(d[0]) + 3) % 10), row.place)
            edits.append(replace(row, place=digits, says=""))
        for edit in edits:
            still = words_hold(edit) if row.key not in plain else edit == row
            missed, tried = missed + still, tried + 1
    assert missed <= 0.05 * tried, (missed, tried)
    first, *others = rows
    for edit in ({"place": "", "says": ""}, {"unit": "USD"}):
        assert sealed([replace(first, **edit), *others]) != (SEALED, SEAL)
