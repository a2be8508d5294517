"""A claim is held to the number that its text prints, not to a reviewer's."""

import ast
import math
import re
from dataclasses import replace

import pytest

from stacklib import pages
from stacklib.evidence import ledger
from stacklib.evidence.ranges import SPELLED, number

# Arithmetic over numbers that the text prints, and over what its unit is made of.
MADE = {
    "b200-l2-growth": "126 / 50",
    "codesign-100x-annual": "100 ** (1 / 3)",
    "codesign-leapfrog-8-to-100": "100 / 8",
    "cowos-shares": "60 + 15 + 11 + 14",
    "fpga-vs-gpu": "2000 / 400",
    "gpt4-175b": "175 / 2",
    "hbm-ddr-energy-ratio": "15 / 3.9",
    "hexagon-45tops-5w": "45 / 5",
    "hexagon-fp16-vs-int8": "45 / 12",
    "hexagon-hvx-width": "32 * 1024 / 8 / 1024",
    "hexagon-isa-counts": "1800 + 700 + 125",
    "session-prefill-uncached-sum": "50 + 52 + 55 + 56 + 58",
    "sbuf-vs-smem": "32 * 1024 / 228",
    "token-cost-production": "2 * 174",
    "torus-bisection-exponent": "2 / 3",
    "v4-params": "100 * 49e9 / 1.6e12",
}
OF_UNITS = {1, 8, 100, 1024}
# Where the text has a word for it.
SAID = {
    "30x-no-double-count": ("(Cross-check)", "the 30 of the claim that it checks"),
    "flashattention-hbm-reads": ("N^2 d / M", "d stands to the first power"),
    "hbm4-jedec-date": ("April 2025", "a quarter of the year had gone"),
    "hexagon-handoff": ("milliseconds to nanoseconds", "six decades"),
    "hbm4-base-n3p": ("N3P", "the node's name has it"),
    "v4-ascend-day0": ("on launch day", "none later"),
    "fp4-v3-fp8-precursor": ("FP4", "the format's name has it"),
    "sampling-hbm-passes": ("twice in each direction", "two out and two in"),
    "sum-of-p99": ("gives the overall latency", "one is the other"),
    "taalas-rom-mac": ("equals", "nothing between them"),
}
WORDS = {
    **{word: float(at) for at, word in enumerate(SPELLED, 1)},
    "single": 1, "once": 1, "twice": 2, "double": 2, "doubles": 2, "threefold": 3,
    "no": 0, "zero": 0, "half": 0.5, "linear": 1, "linearly": 1, "quadratic": 2,
    "equals": 1, "same": 1, "stays": 1, "exactly": 1, "magnitude": 10, "decade": 10,
    "tens": 10, "hundreds": 100, "orders": 100, "thousand": 1000, "sixteen": 16,
}  # fmt: skip
TIMES = {"k": 1e3, "kw": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}
TIMES |= {"millions": 1e6, "b": 1e9, "billion": 1e9, "t": 1e12, "trillion": 1e12}
A_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?"
EACH = re.compile(rf"(?<![\w.])({A_NUMBER}|[a-z]+)(?: ?(?:of )?([a-z%]+))?")


def printed(text: str) -> set[float]:
    """Numbers of a text, in digits and in words, with what multiplies them."""
    found: set[float] = set()
    text = text.lower()
    for at in range(len(text)):
        if (hit := EACH.match(text, at)) is None:
            continue
        first, after = hit.groups(default="")
        if not first[0].isdigit() and first not in WORDS:
            continue
        value = number(first) if first[0].isdigit() else WORDS[first]
        found.add(value)
        found |= {value * TIMES[unit] for unit in {after} & set(TIMES)}
        found |= {1024 * value} if after == "k" else set()
        found |= {value / 100} if after == "%" else set()
        found |= {100 * value} if first == "half" else set()
    return found


def is_printed(claim: ledger.Claim) -> bool:
    """Whether its value stands in its text, in its unit's thousands or in ones."""
    scale = re.match(r"1e\d+", claim.unit)
    ones = claim.value * float(scale[0] if scale else 1)
    every = ((n, v) for n in printed(claim.text) for v in (claim.value, ones))
    return any(math.isclose(n, v, rel_tol=1e-9) for n, v in every)


def made(claim: ledger.Claim) -> float:
    """The claim's value from the numbers of its text; ValueError for any other."""
    told, text = MADE[claim.id], printed(claim.text)
    for node in ast.walk(ast.parse(told)):
        if isinstance(node, ast.Constant) and node.value not in text | OF_UNITS:
            raise ValueError(f"{claim.id}: no {node.value} in {claim.text!r}")
    return float(eval(told, {"__builtins__": {}}))


NUMBERS = [claim for claim in ledger.load() if claim.is_number]


@pytest.mark.rows("claim", NUMBERS)
def test_the_claimed_number_stands_in_the_text(claim):
    if claim.id in MADE:
        digits = len(f"{claim.value:g}".replace(".", "").lstrip("0"))
        assert float(f"{made(claim):.{digits - 1}e}") == pytest.approx(claim.value)
    elif claim.id in SAID:
        assert SAID[claim.id][0] in claim.text
    else:
        assert is_printed(claim), (claim.text, claim.value)


@pytest.mark.rows(
    ("id", "value"),
    [
        ("kv-exceeds-h200", 160),  # of the claim beside it
        ("kv-1m-hundreds-gb", 300),
        ("decode-mlp-us", 300),
        ("decode-mlp-compute-bound", 295),  # a ridge that the text does not name
        ("weights-7b-70b-fit", 140),
        ("session-network-rt", 100),  # a middle
        ("session-decode-token", 30),
        ("gpu-draw-350-600", 575),
        ("disagg-activation-bytes", 0.61),
        ("micron-hbm4-loss", 0.9),
    ],
)
def test_a_reviewers_number_is_refused(id, value):
    claim = ledger.get(id)
    assert not is_printed(replace(claim, value=value, unit="", kind="quantity"))


def test_what_is_listed_needs_to_be():
    listed = [*MADE, *SAID]
    assert len(set(listed)) == len(listed)
    assert [id for id in listed if is_printed(ledger.get(id))] == []


def test_what_agrees_with_itself_is_printed_or_added_up():
    """A quotient that only we make of two figures is judged by what they should be."""
    agreed = {row.claim.id for row in pages.claims(verdict="agrees with its source")}
    assert agreed & {*MADE} == {"session-prefill-uncached-sum"}


def test_a_sum_of_numbers_that_are_not_printed_is_refused(monkeypatch):
    monkeypatch.setitem(MADE, "b200-l2-growth", "125 / 50")
    with pytest.raises(ValueError, match="no 125"):
        made(ledger.get("b200-l2-growth"))
