"""Round the tokens.

level: build

Suppose that an expert computes its tokens in tiles of `tile` rows, and that you would
rather give it other tokens than compute rows of padding. Build it:

- `rounded(counts, tile)`: how many tokens each expert shall have, from the tokens that
  chose it. Suppose that the counts add up to whole tiles. Then yours must be multiples
  of `tile` with the same sum, and no other such numbers may be nearer: the sum of all
  changes, up and down, is the least there can be.
- `members(gates, chose, wanted)`: which tokens one expert computes, as a list of their
  numbers in any order, each once. `gates[t]` is what token t would give it, `chose` is
  a list of the tokens that chose it, `wanted` how many it shall have. Of those who
  chose it the ones with the largest gates stay. If there are too few, all of
  them stay, and the largest gates among the others are added. No two gates are alike.
- `stays()`: what is certainly the same before and after, as a list of words out of
  `"rows in all"`, `"rows of an expert"`, `"experts of a token"` and `"outputs"`.

hint: Give every expert its full tiles first. How many tiles are left to be given, and
who lost the most? In `members`, who chose the expert comes before who did not, however
large a gate.
"""

import random

from stacklib.grading import expect
from stacklib.kernels.experts.rounding import round_tokens

# ---- your answer ----


def rounded(counts, tile):
    """Tokens of each expert in whole tiles, the sum kept."""
    full = [count // tile * tile for count in counts]
    left = (sum(counts) - sum(full)) // tile
    most = sorted(range(len(counts)), key=lambda n: counts[n] % tile, reverse=True)
    for expert in most[:left]:
        full[expert] += tile
    return full


def members(gates, chose, wanted):
    """The tokens that one expert computes."""
    chosen = set(chose)
    order = sorted(range(len(gates)), key=lambda t: (t not in chosen, -gates[t]))
    return order[:wanted]


def stays():
    """What rounding leaves as it was."""
    return ["rows in all"]


# ---- tests ----

RNG = random.Random(128)


def drawn(experts, tile, most):
    counts = [RNG.randrange(most) for _ in range(experts)]
    counts[-1] += -sum(counts) % tile
    return counts


CASES = [
    ([5, 7, 4], 4),
    ([6, 6, 6, 6], 4),
    ([1, 1, 1, 1], 4),
    ([130, 126, 384], 128),
    ([200, 200, 200, 40], 128),
    (drawn(16, 64, 400), 64),
    (drawn(32, 128, 900), 128),
    (drawn(12, 16, 40), 16),
]


def whole_tiles(counts, tile, order):
    """Full tiles, and the rest of them by an order of experts."""
    full = [n // tile * tile for n in counts]
    left = (sum(counts) - sum(full)) // tile
    for expert in sorted(range(len(counts)), key=order)[:left]:
        full[expert] += tile
    return full


def least(counts, tile):
    """The sum of changes of the best rounding."""
    best = whole_tiles(counts, tile, lambda n: -(counts[n] % tile))
    return change(counts, best)


def change(counts, given):
    return sum(abs(a - b) for a, b in zip(counts, given, strict=True))


SLIPS = {
    "You round each count to its nearest. The sum must stay, so some have to go the "
    "other way.": lambda counts, tile: [round(n / tile) * tile for n in counts],
    "You round all counts down and drop the rest.": (
        lambda counts, tile: [n // tile * tile for n in counts]
    ),
    "You round all counts up: those are the rows that padding would compute.": (
        lambda counts, tile: [-(-n // tile) * tile for n in counts]
    ),
    "The tiles that are left go to the experts with the largest counts; they should "
    "go to those that lost most.": lambda counts, tile: whole_tiles(
        counts, tile, lambda n: -counts[n]
    ),
    "The tiles that are left go to the first experts, whatever they lost.": (
        lambda counts, tile: whole_tiles(counts, tile, lambda n: n)
    ),
}


def test_rounded():
    failed = []
    for counts, tile in CASES:
        given = expect.numbers(rounded(list(counts), tile), "a count for each expert")
        if len(given) != len(counts):
            raise expect.Mistake(f"{len(counts)} experts, and {len(given)} counts")
        fits = not any(n % tile or n < 0 for n in given) and sum(given) == sum(counts)
        if not fits or change(counts, given) != least(counts, tile):
            failed.append((counts, tile, given))
    for text, slip in SLIPS.items():
        if failed and all(slip(c, t) == given for c, t, given in failed):
            raise expect.Mistake(text)
    for counts, tile, given in failed:
        name = f"rounded({expect.clip(counts)}, {tile})"
        if any(n % tile or n < 0 for n in given):
            raise expect.Mistake(f"{name}: not all of yours are whole tiles")
        if sum(given) != sum(counts):
            raise expect.Mistake(f"{name}: the sum is not kept")
        raise expect.Mistake(
            f"{name}: yours change {change(counts, given):.0f} choices, "
            f"{least(counts, tile)} are enough"
        )


GATES = [RNG.random() for _ in range(40)]
CHOSE = RNG.sample(range(40), 14)


WRONG = {
    "Among all tokens you take the largest gates. Those who chose the expert come "
    "first.": lambda gates, chose, wanted: sorted(
        range(len(gates)), key=lambda t: -gates[t]
    )[:wanted],
    "Of those who chose the expert you keep the smallest gates.": (
        lambda gates, chose, wanted: sorted(
            range(len(gates)),
            key=lambda t: (t not in chose, gates[t] if t in chose else -gates[t]),
        )[:wanted]
    ),
    "You add the smallest gates of those who did not choose it.": (
        lambda gates, chose, wanted: sorted(
            range(len(gates)),
            key=lambda t: (t not in chose, -gates[t] if t in chose else gates[t]),
        )[:wanted]
    ),
    "You keep the first who chose it. Their gates decide.": (
        lambda gates, chose, wanted: [
            *chose,
            *sorted(set(range(len(gates))) - set(chose), key=lambda t: -gates[t]),
        ][:wanted]
    ),
}


def right(gates, chose, wanted):
    inside = sorted(chose, key=lambda t: -gates[t])
    outside = sorted(set(range(len(gates))) - set(chose), key=lambda t: -gates[t])
    return [*inside, *outside][:wanted]


def test_members():
    failed = []
    for wanted in (0, 8, 13, 14, 16, 24, 40):
        found = members(list(GATES), list(CHOSE), wanted)
        given = [int(n) for n in expect.numbers(found, "a list of tokens")]
        if len(given) != len(set(given)):
            raise expect.Mistake(f"for {wanted} tokens one of them comes twice")
        if len(given) != wanted:
            raise expect.Mistake(f"{wanted} tokens are wanted, {len(given)} came back")
        if set(given) != set(right(GATES, CHOSE, wanted)):
            failed.append((wanted, set(given)))
    for text, slip in WRONG.items():
        if failed and all(set(slip(GATES, CHOSE, w)) == got for w, got in failed):
            raise expect.Mistake(text)
    if failed:
        raise expect.Mistake(f"for {failed[0][0]} tokens other ones are right")


def test_stays():
    words = ("rows in all", "rows of an expert", "experts of a token", "outputs")
    given = expect.sequence(stays(), "a list of words")
    for word in given:
        expect.equal(word, word, among=words)
    if "experts of a token" in given:
        raise expect.Mistake(
            "A token that one expert drops and no other takes has fewer experts."
        )
    if "rows of an expert" in given:
        raise expect.Mistake("Then nothing was rounded.")
    if "outputs" in given:
        raise expect.Mistake("A token whose experts change gets another output.")
    if "rows in all" not in given:
        raise expect.Mistake("You kept the sum of all counts: something stays.")


def test_batch():
    """Both together, on gates of a whole batch."""
    tile, experts, tokens = 4, 6, 40
    table = [[RNG.random() for _ in range(experts)] for _ in range(tokens)]
    done = round_tokens([[x / sum(row) for x in row] for row in table], top_k=2, tile=1)
    chose = [[t for t in range(tokens) if done.chosen[t, e]] for e in range(experts)]
    wanted = rounded([len(one) for one in chose], tile)
    after = [
        members([row[e] for row in table], chose[e], int(wanted[e]))
        for e in range(experts)
    ]
    mine = [sum(t in list(one) for one in after) for t in range(tokens)]
    if sum(mine) != 2 * tokens:
        raise expect.Mistake("the batch asks for other rows than before")
    expect.reading("experts of a token, fewest and most", f"{min(mine)}, {max(mine)}")
