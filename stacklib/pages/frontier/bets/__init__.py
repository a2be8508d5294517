"""Section 10.7: What would you bet on?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from statistics import NormalDist
from typing import Any

from stacklib import cost, frontier
from stacklib.frontier import foretold
from stacklib.frontier.factor_tree import generation
from stacklib.frontier.watching import SURE, Forecast, Watch, chance, reach
from stacklib.pages.frontier import next as machines
from stacklib.quantity import Quantity, chosen, counted, counting, maximum, minimum

BOX, RENT, EXPERTS = "rubin-70b-16bit", "rent-h100", "rubin-deepseek"
RATIO = 2.0  # of the statement in the box
RENTED = "h100_sxm"
PLANTED = {RENT: "true", EXPERTS: "false"}
SHORT = {
    EXPERTS: "DeepSeek on eight Rubin at least twice as fast as on eight B200",
    "rubin-gpt-oss-token": "gpt-oss-120b on one Rubin, 64 answers: 8 ms at most",
    "rubin-ten-times-cheaper": "a token on Rubin for a tenth of the dollars",
    "rubin-four-times-fewer": "training with a quarter of the GPUs on Rubin",
    "attention-b300": "attention on B300 at most 1.1 times as fast as on B200",
    "power-2028": "a GPU package of 2028 may draw 2 kW or more",
    "bandwidth-2028": "a GPU package of 2028 moves 30 TB/s or more",
    RENT: "an H100 for 2 dollars an hour or less",
}
LEASTS = (1.0, 1.25, 1.5, 1.75, 2.0, 2.25)  # times as fast
THINKS, SAYS, NOTHING = 0.7, 0.9, 0.5


def listed(id: str) -> Forecast:
    """One of the book's forecasts."""
    return frontier.watch()[id]


@counting("{what}, {id}")
def given(id: str, what: str = "probability") -> float:
    """A number of a forecast as it was frozen."""
    return float(getattr(listed(id), what))


@counting("rent to come, {what} of the band", unit="USD/h")
def rent(what: str) -> float:
    """An end of the band around the rent of an H100."""
    return float(getattr(listed(RENT), what))


@counting("deviations from its value to {threshold}, {id}")
def away(id: str = BOX, threshold: float = RATIO) -> float:
    """Standard deviations of the logarithm, by the probability of what lies below."""
    told = listed(id)
    below = chance(told.value, told.low, told.high, at_most=threshold)
    return NormalDist().inv_cdf(below)


def nine() -> Quantity:
    """Standard deviations to each end of a band that holds nine in ten."""
    held = chosen(0.9, label="share that it holds")
    return counted(reach, held, label="deviations to an end of nine in ten")


@counting("Brier score to expect, {thinks} thought and {says} said")
def expected(thinks: float, says: float) -> float:
    """Over both outcomes, as likely as one thinks."""
    told = replace(listed(BOX), probability=says)
    came, failed = (replace(told, outcome=word).brier() for word in ("true", "false"))
    return thinks * came + (1 - thinks) * failed


@counting("{what} of planted outcomes, {first} and {second}")
def planted(what: str, first: str = "true", second: str = "false") -> float:
    """A score of the two forecasts that the loop has."""
    told = frontier.watch().entered({RENT: first, EXPERTS: second})
    return float(getattr(told.score, what))


@counting("Brier score of {who}, {id}, if {word}")
def lost(id: str, word: str, who: str = "book") -> float:
    """What one outcome costs one forecast, the book's or the naive one."""
    told = replace(listed(id), outcome=word)
    return told.brier(told.probability if who == "book" else told.naive)


@counting("Brier score to expect of {whose} list")
def own(whose: str = "our") -> float:
    """If every probability on the list were right; ``whose`` may be ``the naive``."""
    rows = frontier.watch().forecasts
    total = 0.0
    for row in rows:
        says = row.probability if whose == "our" else row.naive
        for word, p in (("true", row.probability), ("false", 1 - row.probability)):
            total += p * replace(row, outcome=word).brier(says)
    return total / len(rows)


@counting("forecasts, {of}")
def count(of: str = "all") -> int:
    """All, and those that the table does not have."""
    every = frontier.watch().forecasts
    return len(every) if of == "all" else len(every) - len(SHORT)


def quote(which: str) -> Quantity:
    """An hour of an H100 as clouds say it: ``least``, ``middle`` or ``most``."""
    found = sorted((q.value for q in cost.prices(RENTED, "cloud")), key=lambda q: q.si)
    if which == "middle":
        return found[len(found) // 2].named("the middle quote")
    end = minimum if which == "least" else maximum
    return end(*found).named(f"the {which} quoted")


def short() -> list[dict[str, Any]]:
    """Eight of the list."""
    return [_row(id, words) for id, words in SHORT.items()]


def others() -> list[dict[str, Any]]:
    """All others, in the words that will be settled."""
    rows = frontier.watch().forecasts
    return [_row(row.id, row.statement) for row in rows if row.id not in SHORT]


def _row(id: str, words: str) -> dict[str, Any]:
    told = listed(id)
    return {
        "forecast": words,
        "by the end of": told.due[:4],
        "the book": given(id).to("%"),
        "naive": given(id, "naive").to("%"),
        "naive says": told.naive_says,
    }


# -- the same bands, asked of the generation before ------------------------------------


@cache
def bands() -> tuple[tuple[foretold.Value, float], ...]:
    """Of each pair of runs: B200 over H100 with its band, and what was measured."""
    found = []
    for old, new in machines.pairs():
        middle = old.prompt + old.written // 2
        asked: dict[str, Any] = {"tp": old.chips, "batch": old.batch}
        value = foretold.ratio(
            *(old.model, old.device, new.device),
            **asked,
            dtype=old.dtype,
            context=middle,
        )
        found.append((value, old.itl_ms / new.itl_ms))
    return tuple(found)


@counting("pairs of runs, {where} of their bands")
def held(where: str = "inside") -> int:
    """How many were measured ``inside``, ``below`` or ``above``; or ``all``."""
    found = {"inside": 0, "below": 0, "above": 0, "all": len(bands())}
    for band, measured in bands():
        side = "below" if measured < band.low else "above"
        found["inside" if band.low <= measured <= band.high else side] += 1
    return found[where]


def held_share() -> Quantity:
    """Of all pairs, those that their bands held."""
    return (held() / held("all")).named("share of pairs inside their bands")


@cache
def backcast(least: float) -> Watch:
    """One statement a pair, at least so many times as fast, and how it came out."""
    sheet = generation(machines.OLD, machines.DEVICE)["HBM"].low.si
    naive = SURE if sheet >= least else 1 - SURE
    rows = []
    for place, (band, measured) in enumerate(bands()):
        says = chance(band.value, band.low, band.high, at_least=least)
        told = partial(replace, listed(BOX), id=f"pair {place}", naive=naive)
        word = "true" if measured >= least else "false"
        rows.append(told(probability=says, outcome=word))
    return Watch(tuple(rows))


@counting("{what}, at least {least} times as fast")
def asked(least: float, what: str) -> float:
    """``said`` and ``true`` as shares of the pairs; ``brier`` and ``naive_brier``."""
    found = backcast(least)
    rows = found.forecasts
    if what == "said":
        return sum(row.probability for row in rows) / len(rows)
    if what == "true":
        return sum(row.outcome == "true" for row in rows) / len(rows)
    return float(getattr(found.score, what))


def before() -> list[dict[str, Any]]:
    """By threshold: what the bands said, how often it came true, both scores."""
    return [
        {
            "at least": chosen(least, label="times as fast"),
            "said": asked(least, "said").to("%"),
            "came true": asked(least, "true").to("%"),
            "Brier": asked(least, "brier"),
            "naive Brier": asked(least, "naive_brier"),
        }
        for least in LEASTS
    ]


@counting("the most that a forecast of the list says")
def most() -> float:
    """No band is so well known that it promises more."""
    return max(row.probability for row in frontier.watch().forecasts)
