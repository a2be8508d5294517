"""Section 7.9: Does it still answer right?"""

from __future__ import annotations

from functools import cache
from math import log
from typing import Any

from stacklib.quantity import Quantity, counting, recorded

from . import statistics

FILE = "stacklib/tinylm/data/low_precision/schemes.json"  # as a leaf names it
PLAIN, COARSE = "int4_g128", "int4_g128_asym"
KIND = "verb of a plural subject"
ENDS = ("value", "low", "high")  # of an interval
PAIR = 38  # of the probe: a verb that agrees, or does not
SHOWN = (
    ("int8_channel", "round"),
    ("q4_k", "round"),
    ("q4_0", "round"),
    ("nf4", "round"),
    (COARSE, "round"),
    (PLAIN, "round"),
    ("q3_k", "round"),
    ("q2_k", "round"),
)


# -- stored: sums of every scheme ------------------------------------------------------


@cache
def row(scheme: str, method: str = "round") -> Any:
    """What a scheme cost the small model (``tinylm.quantized.Measured``)."""
    from stacklib.tinylm.quantized import measured

    for found in measured():
        if (found.scheme, found.method) == (scheme, method):
            return found
    raise ValueError(f"{scheme}, {method}: not measured")


def of(
    scheme: str, what: str = "loss", method: str = "round", end: str = "value"
) -> Quantity:
    """A figure of a scheme: ``loss``, ``bits_per_byte``, ``probe``, ``cloze``."""
    unit = "bit/B" if what in ("loss", "bits_per_byte") else ""
    label, field = f"{what} of {scheme}, {method}, {end}", f"{what}/{ENDS.index(end)}"
    return recorded(FILE, f"{scheme}, {method}", field, unit=unit, label=label)


def bits(scheme: str, method: str = "round") -> Quantity:
    """Bits of a weight, scales counted, as the model was packed."""
    label = f"bits of {scheme}, {method}"
    return recorded(FILE, f"{scheme}, {method}", "bits", unit="bit", label=label)


def rounded_rows() -> list[Any]:
    """Every scheme and method, the model in bf16 left out."""
    from stacklib.tinylm.quantized import measured

    return [found for found in measured() if found.method != "none"]


def on_the_front() -> set[tuple[str, str]]:
    """Schemes that no other beats in bits and in loss."""
    rows = rounded_rows()
    best = set(statistics.front((r.bits, r.loss.value) for r in rows))
    return {(r.scheme, r.method) for r in rows if (r.bits, r.loss.value) in best}


# -- stored: every document and every answer of some -----------------------------------


@cache
def answers() -> dict[str, Any]:
    """``low_precision/answers.json``: rows by scheme, bytes and tokens of documents."""
    from stacklib.tinylm.low_precision.runs import curves

    found = dict(curves("answers"))
    found["rows"] = {each["scheme"]: each for each in found["rows"]}
    return found


@counting("number of {part}")
def asked(part: str) -> int:
    """How many ``documents``, ``pairs`` or ``cloze`` items there are."""
    kept = answers()
    return len(kept["bytes"] if part == "documents" else kept["rows"]["bf16"][part])


@cache
def scores(scheme: str) -> tuple[Any, ...]:
    """Cost of each document (``tinylm.perplexity.Score``)."""
    from stacklib.tinylm.perplexity import Score

    kept = answers()
    columns = kept["tokens"], kept["bytes"], kept["rows"][scheme]["nats"]
    rows = enumerate(zip(*columns, strict=True))
    return tuple(Score(str(at), *columns) for at, columns in rows)


@cache
def paired(scheme: str, other: str = "bf16") -> tuple[float, float, float]:
    """Bits a byte of a scheme less another's, low and high end: the same documents."""
    from stacklib.tinylm.perplexity import difference

    found = difference(scores(scheme), scores(other))
    return found.value, found.low, found.high


@cache
def unpaired(scheme: str, other: str = "bf16") -> tuple[float, float, float]:
    """The same as if each had read documents of its own."""
    import numpy as np

    random = np.random.default_rng(0)
    ends = []
    for name in (scheme, other):
        nats, sizes = np.array([(s.nats, s.bytes) for s in scores(name)]).T
        drawn = random.integers(len(nats), size=(10_000, len(nats)))
        ends.append(nats[drawn].sum(1) / sizes[drawn].sum(1) / log(2))
    low, high = np.percentile(ends[0] - ends[1], [2.5, 97.5])
    return paired(scheme, other)[0], float(low), float(high)


def _less(scheme: str, other: str, end: str, together: bool) -> str:
    return f"{scheme} less {other}, {'paired' if together else 'unpaired'}, {end}"


@counting(_less, unit="bit/B")
def difference(
    scheme: str, other: str = "bf16", end: str = "value", together: bool = True
) -> float:
    """Bits a byte of a scheme less another's, or an end of its interval."""
    return (paired if together else unpaired)(scheme, other)[ENDS.index(end)]


def width(scheme: str, *, together: bool = True) -> Quantity:
    """Width of an interval against bf16."""
    low, high = (
        difference(scheme, end=end, together=together) for end in ("low", "high")
    )
    return (high - low).named(f"width, {scheme}, together={together}")


def flips(scheme: str, other: str = "bf16", part: str = "pairs") -> tuple[int, int]:
    """Questions that only the other answers right, and only the scheme.

    ``part``: ``pairs``, ``cloze``, or ``all``.
    """
    rows = answers()["rows"]
    parts = ("pairs", "cloze") if part == "all" else (part,)
    before, after = ("".join(rows[n][p] for p in parts) for n in (other, scheme))
    both = list(zip(before, after, strict=True))
    return both.count(("1", "0")), both.count(("0", "1"))


@counting("lost by {scheme}, {other}, {part}")
def lost(scheme: str, other: str = "bf16", part: str = "pairs") -> int:
    """Questions that only the other answers right."""
    return flips(scheme, other, part)[0]


@counting("gained by {scheme}, {other}, {part}")
def gained(scheme: str, other: str = "bf16", part: str = "pairs") -> int:
    """Questions that only the scheme answers right."""
    return flips(scheme, other, part)[1]


@counting("McNemar, {scheme}, {other}, {part}")
def chance(scheme: str, other: str = "bf16", part: str = "pairs") -> float:
    """Chance of so uneven a split if both answered equally well."""
    return statistics.mcnemar(*flips(scheme, other, part))


def equal_pairs() -> list[tuple[str, str]]:
    """Schemes whose difference in bits a byte may be zero."""
    names = [name for name in answers()["rows"] if name != "bf16"]
    return [
        (a, b)
        for at, a in enumerate(names)
        for b in names[at + 1 :]
        if paired(b, a)[1] < 0 < paired(b, a)[2]
    ]


def equal_count() -> int:
    """How many such couples there are."""
    return len(equal_pairs())


def least_chance() -> float:
    """The least chance of their splits, of pairs and of cloze items."""
    parts = ("pairs", "cloze", "all")
    splits = (flips(b, a, part) for a, b in equal_pairs() for part in parts)
    return min(statistics.mcnemar(*split) for split in splits)


@cache
def groupings() -> dict[str, list[str]]:
    """``low_precision/groupings.json``: by scheme the pairs of every draw, as bits."""
    from stacklib.tinylm.low_precision.runs import curves

    found: dict[str, list[str]] = {}
    for each in curves("groupings")["rows"]:
        found.setdefault(each["scheme"], []).append(each["pairs"])
    return found


def splits(scheme: str, other: str = "bf16") -> list[tuple[int, int]]:
    """Of every draw, pairs that only the other answers right, and only the scheme."""
    drawn = groupings()[scheme]
    before = groupings().get(other, [answers()["rows"]["bf16"]["pairs"]] * len(drawn))
    both = [list(zip(*pair, strict=True)) for pair in zip(before, drawn, strict=True)]
    return [(b.count(("1", "0")), b.count(("0", "1"))) for b in both]


@counting("draws of groups")
def draws() -> int:
    """How often columns were dealt into other groups."""
    return len(groupings()[COARSE])


@counting("{scheme} and {other} regrouped, draws that lose {which}")
def draws_that_lose(scheme: str, other: str, which: str) -> int:
    """Draws in which a scheme loses ``more`` pairs than it wins, or ``fewer``."""
    sign = 1 if which == "more" else -1
    return sum(sign * lost > sign * won for lost, won in splits(scheme, other))


@counting("least chance of a draw's split")
def least_of_draws() -> float:
    """The least chance of the coarse grid's splits against bf16."""
    return min(statistics.mcnemar(*split) for split in splits(COARSE))


@counting("pairs lost in a draw, {which}")
def lost_in_a_draw(which: str) -> int:
    """The ``median``, ``least`` or ``most`` that the coarse grid loses in a draw."""
    many = sorted(lost for lost, _ in splits(COARSE))
    return many[{"least": 0, "median": len(many) // 2, "most": -1}[which]]


@counting(lambda: f"share of the lost pairs of all draws, {KIND}")
def kind_of_draws() -> float:
    """Share of that kind of all pairs that any draw loses."""
    from stacklib.tinylm.probe import pairs

    before = answers()["rows"]["bf16"]["pairs"]
    gone = [
        pair.kind
        for drawn in groupings()[COARSE]
        for pair, a, b in zip(pairs(), before, drawn, strict=True)
        if a + b == "10"
    ]
    return gone.count(KIND) / len(gone)


@counting(lambda: f"share of pairs, {KIND}")
def kind_share() -> float:
    """Share of that kind of all pairs."""
    from stacklib.tinylm.probe import pairs

    return sum(pair.kind == KIND for pair in pairs()) / len(pairs())


@cache
def sentence_costs(scheme: str) -> tuple[float, float]:
    """Nats of the right and of the wrong sentence of one pair."""
    from stacklib.tinylm import load
    from stacklib.tinylm.probe import pairs, sentence_cost
    from stacklib.tinylm.quantized import quantized

    model = load() if scheme == "bf16" else quantized(load(), scheme).model
    pair = pairs()[PAIR]
    return sentence_cost(model, pair.good), sentence_cost(model, pair.bad)
