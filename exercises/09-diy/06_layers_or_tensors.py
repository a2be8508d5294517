"""By layers or by tensors: how slow may an exchange be before the cards stop helping?

level: derive

Suppose `cards` cards read `rate` GB/s each from their memory, and a token reads
`weights` GB of a model with `layers` layers. By layers the cards take turns, and what
crosses between them is too little to count. By tensors each reads its part of every
matrix at the same time, and two exchanges a layer follow, of `wait` microseconds each.

- `by_layers(weights, rate, cards)`: tokens a second of one conversation.
- `by_tensors(weights, rate, cards, layers, wait)`: the same.
- `turn(weights, rate, cards, layers)`: the `wait` at which both are equally fast.

Refuse what is no size: no card, a rate of zero, NaN. Then suppose four RTX 3090 with
936 GB/s each and Llama-3-70B in 40 GB: what may an exchange cost?

hint: Write both as seconds of a token. By layers the number of cards drops out.
"""

import math

from stacklib.grading import expect

# ---- your answer ----


def sized(**sizes):
    """Refuse what is not above zero."""
    for name, value in sizes.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} = {value!r}: above zero is needed")


def by_layers(weights, rate, cards):
    """Tokens a second of one conversation."""
    sized(weights=weights, rate=rate, cards=cards)
    return rate / weights


def by_tensors(weights, rate, cards, layers, wait):
    """Tokens a second of one conversation."""
    sized(weights=weights, rate=rate, cards=cards, layers=layers)
    return 1 / (weights / (cards * rate) + 2 * layers * wait * 1e-6)


def turn(weights, rate, cards, layers):
    """Microseconds of an exchange at which both are equally fast."""
    sized(weights=weights, rate=rate, cards=cards, layers=layers)
    return weights / rate * (1 - 1 / cards) / (2 * layers) * 1e6


# ---- tests ----

CASES = [
    {"weights": weights, "rate": rate, "cards": cards}
    for weights, rate in ((40.0, 936.0), (4.6, 1792.0), (140.0, 1008.0))
    for cards in (1, 2, 4, 8)
]
DEEP = [case | {"layers": layers} for case in CASES for layers in (32, 80)]


def reading(weights, rate, cards, together):
    """Seconds, card after card or all at once."""
    parts = [weights / cards / rate] * cards
    return max(parts) if together else sum(parts)


def test_by_layers():
    def right(weights, rate, cards):
        return 1 / reading(weights, rate, cards, False)

    told = {
        "By layers the cards take turns: speed does not add.": (
            lambda weights, rate, cards: 1 / reading(weights, rate, cards, True)
        ),
    }
    expect.function_matches(
        by_layers, right, CASES, unit="token/s", rel=1e-6, mistakes=told
    )


def token(weights, rate, cards, layers, wait, each=2, unit=1e-6):
    """Tokens a second by tensors, exchange after exchange."""
    waits = sum(wait * unit for _ in range(each * layers))
    return 1 / (reading(weights, rate, cards, True) + waits)


def test_by_tensors():
    cases = [case | {"wait": wait} for case in DEEP for wait in (0.0, 10.0, 38.0)]
    told = {
        "A layer has two exchanges: behind attention and behind the MLP.": (
            lambda weights, rate, cards, layers, wait: token(
                weights, rate, cards, layers, wait, 1
            )
        ),
        "All cards read at the same time, each its part.": (
            lambda weights, rate, cards, layers, wait: (
                1 / (weights / rate + 2 * layers * wait * 1e-6)
            )
        ),
    }
    expect.function_matches(
        by_tensors, token, cases, unit="token/s", rel=1e-6, mistakes=told
    )


def test_turn():
    def right(weights, rate, cards, layers):
        return (weights / rate - reading(weights, rate, cards, True)) * 5e5 / layers

    cases = [case for case in DEEP if case["cards"] > 1]
    told = {
        "The cards still read their own part.": (
            lambda weights, rate, cards, layers: weights / rate / layers * 5e5
        ),
    }
    expect.function_matches(turn, right, cases, rel=1e-6, mistakes=told)
    expect.reading("microseconds an exchange may take", turn(40, 936, 4, 80))


def test_what_is_no_size_is_refused():
    for change, why in (
        ({"cards": 0}, "no card reads nothing"),
        ({"rate": 0.0}, "a memory without a rate is never read"),
        ({"weights": math.nan}, "NaN is no size"),
    ):
        expect.refuses(by_layers, CASES[1] | change, because=why)
