"""Where does the nucleus end?

level: build

Cuts that keep a part of a distribution `p`, a list of shares that add up to one. Each
is a threshold, and each has an edge that is easily put one token off. Suppose that of
equal shares the token with the lower number counts as the likelier one.

- `top_p(p, share)`: tokens are taken from the likeliest down for as long as what was
  taken *before* them is less than `share`. So the token with which the sum reaches
  `share` is kept, and the likeliest always is.
- `min_p(p, share)`: tokens are kept whose share is at least `share` times that of the
  likeliest.
- `chain(p, share_p, share_m)`: `top_p` first, what is left made to add up to one, then
  `min_p` of that.

The first two return the numbers of the tokens kept, from the lowest up. `chain`
returns the distribution, a list as long as `p`, zero where cut, that adds up to one.

hint: Sort token numbers by `(-p[i], i)`. Does dividing all shares by one number
change what `min_p` keeps?
"""

import math
import random

from stacklib.grading import expect
from stacklib.tinylm.sampling import Sampling, probabilities

# ---- your answer ----


def top_p(p, share):
    """Tokens of the nucleus."""
    kept, before = [], 0.0
    for i in sorted(range(len(p)), key=lambda i: (-p[i], i)):
        if before >= share:
            break
        kept.append(i)
        before += p[i]
    return sorted(kept)


def min_p(p, share):
    """Tokens that are not too far below the likeliest."""
    return [i for i, own in enumerate(p) if own >= share * max(p)]


def chain(p, share_p, share_m):
    """The distribution after both cuts."""
    inside = set(top_p(p, share_p)) & set(min_p(p, share_m))
    total = sum(p[i] for i in inside)
    return [own / total if i in inside else 0.0 for i, own in enumerate(p)]


# ---- tests ----

RNG = random.Random(10)


def drawn(n):
    found = [RNG.random() ** 6 + 1e-3 for _ in range(n)]
    return [x / sum(found) for x in found]


# Shares with few bits, so that their sums are exact in any order.
ROWS = {
    "halves": [0.5, 0.25, 0.125, 0.125],
    "not in order": [0.125, 0.5, 0.0625, 0.25, 0.0625],
    "all equal": [0.125] * 8,
    "one token": [1.0],
    "one likely": [0.9375, 0.03125, 0.03125],
    "drawn": drawn(12),
    "drawn, longer": drawn(40),
}
SHARES = (0.25, 0.5, 0.75, 0.9, 1.0)


def order(p):
    return sorted(range(len(p)), key=lambda i: (-p[i], i))


def nucleus(p, share, shift=0):
    """The likeliest whose forerunners are below the share, and ``shift`` more."""
    before, count = 0.0, 0
    for i in order(p):
        if before >= share:
            break
        before, count = before + p[i], count + 1
    return sorted(order(p)[: max(0, count + shift)])


def without_the_last(p, share):
    """The likeliest whose sum is not above the share."""
    total, kept = 0.0, []
    for i in order(p):
        total += p[i]
        if total > share:
            break
        kept.append(i)
    return sorted(kept)


def at_least_one_more(p, share):
    """Taken while the sum is not above the share."""
    before, kept = 0.0, []
    for i in order(p):
        if before > share:
            break
        kept.append(i)
        before += p[i]
    return sorted(kept)


def above(p, share):
    return [i for i, own in enumerate(p) if own >= share]


def largest(p, share):
    return [i for i, own in enumerate(p) if own > share * max(p)]


def in_given_order(p, share):
    before, kept = 0.0, []
    for i, own in enumerate(p):
        if before >= share:
            break
        kept.append(i)
        before += own
    return kept


def compare(f, reference, slips):
    failed = []
    for name, p in ROWS.items():
        for share in SHARES:
            given = {"p": list(p), "share": share}
            found = expect.numbers(expect.call(f, given), "a list of tokens")
            if list(found) != reference(p, share):
                failed.append((name, share, list(found)))
    for text, slip in slips.items():
        if failed and all(slip(ROWS[n], s) == mine for n, s, mine in failed):
            raise expect.Mistake(f"{failed[0][0]}, {failed[0][1]}: {text}")
    for name, share, mine in failed:
        wanted = reference(ROWS[name], share)
        raise expect.Mistake(f"{name}, {share}: {mine} instead of {wanted}")


def test_top_p():
    compare(
        top_p,
        nucleus,
        {
            "the token with which the sum reaches the share is kept. Compare what was "
            "taken before it.": without_the_last,
            "where the sum is the share exactly, the nucleus is full: one token too "
            "many.": at_least_one_more,
            "tokens are taken from the likeliest down, not in the order of the "
            "vocabulary.": in_given_order,
            "that keeps tokens by their own share; top-p goes by the sum.": above,
        },
    )


def test_min_p():
    compare(
        min_p,
        lambda p, share: [i for i, own in enumerate(p) if own >= share * max(p)],
        {
            "the share is of the likeliest token's, not a share of all.": above,
            "a token that lies on the threshold is kept.": largest,
        },
    )


def test_chain():
    """Against the cuts of the book's own model."""
    for name, p in ROWS.items():
        for share_p, share_m in ((0.5, 0.1), (0.9, 0.3), (1.0, 0.0), (0.75, 1.0)):
            given = {"p": list(p), "share_p": share_p, "share_m": share_m}
            mine = expect.numbers(expect.call(chain, given), "a list of shares")
            logits = [math.log(x) for x in p]
            right = probabilities(logits, Sampling(top_p=share_p, min_p=share_m))
            if len(mine) != len(p):
                raise expect.Mistake(f"{name}: {len(mine)} shares for {len(p)} tokens")
            if not sum(mine):
                raise expect.Mistake(f"{name}: nothing is left")
            if abs(sum(mine) - 1) > 1e-9:
                raise expect.Mistake(
                    f"{name}: the shares add up to {sum(mine):.3g}. What is cut has to "
                    "be handed to the rest."
                )
            if any(abs(a - b) > 1e-9 for a, b in zip(mine, right, strict=True)):
                raise expect.Mistake(
                    f"{name}, top-p {share_p}, min-p {share_m}: {expect.clip(mine)} "
                    f"instead of {expect.clip(right.round(4).tolist())}"
                )
