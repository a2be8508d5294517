"""A rule that keeps the text.

level: build
project: P8.5

A draft has proposed some tokens. The large model has read all of them in one pass.
Which ones stay in the text, so that it is distributed as if the large model had
written it alone?

- `bigram(ids, vocab)`: a draft as small as they come. A matrix of `vocab` rows, whose
  row `a` is the distribution of the token after `a`: how often each token followed `a`
  in `ids`, plus one, over the sum of the row.
- `checked(target, draft, drafted, random)`: the tokens that a pass yields. `drafted`
  are tokens, `draft` has the row that each was drawn from, `target` the large model's
  row at each of their places and, as its last one, the row after all of them. Walk
  through the drafted tokens: keep `x` with probability `min(1, p[x] / q[x])`. At the
  first that is not kept, add one token from what `p` has more of than `q`, scaled to
  one, and stop. If all are kept, add one from the last row. Rows are arrays, tokens are
  their indices, `random` is a NumPy Generator: `random.random()`,
  `random.choice(len(p), p=p)`.
- `acceptance(kept, drafted)`: the chance that a proposal is kept, from a log. `kept`
  has for each pass how many of its `drafted` tokens were kept. Count only proposals
  that were asked about: those after a rejection were not.

hint: `np.maximum(p - q, 0)` is what `p` has more of. A `for` loop with `else` fits: the
`else` is reached when no token was rejected. In a log, a pass that kept fewer than
`drafted` asked about one proposal more than it kept.
"""

from itertools import pairwise

import numpy as np

from stacklib.grading import expect
from stacklib.serving.speculation.formula import tokens_per_pass

# ---- your answer ----


def bigram(ids, vocab):
    """Row a is the distribution of what follows a."""
    counts = np.ones((vocab, vocab))
    for before, after in pairwise(ids):
        counts[before, after] += 1
    return counts / counts.sum(axis=1, keepdims=True)


def checked(target, draft, drafted, random):
    """The tokens that a pass yields."""
    tokens = []
    for p, q, token in zip(target, draft, drafted, strict=False):
        if random.random() * q[token] >= p[token]:
            more = np.maximum(p - q, 0)
            return [*tokens, random.choice(len(p), p=more / more.sum())]
        tokens.append(token)
    p = target[len(tokens)]
    return [*tokens, random.choice(len(p), p=p)]


def acceptance(kept, drafted):
    """Kept proposals over those that were asked about."""
    asked = sum(min(one + 1, drafted) for one in kept)
    return sum(kept) / asked


# ---- tests ----

VOCAB, DRAFTED, PASSES = 5, 3, 4000
RNG = np.random.default_rng(85)
CHAIN = RNG.dirichlet(np.ones(VOCAB), VOCAB)  # the large model's: what follows what


def written(count):
    """A text of the large model's own."""
    ids = [0]
    for _ in range(count):
        ids.append(int(RNG.choice(VOCAB, p=CHAIN[ids[-1]])))
    return ids


TEXT = written(60)


def follows(ids, vocab, more=1):
    counts = np.full((vocab, vocab), float(more))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    with np.errstate(invalid="ignore"):
        return counts / counts.sum(axis=1, keepdims=True)


def test_bigram():
    for ids, vocab in ((TEXT, VOCAB), ([0, 1, 1, 0], 3)):
        mine = np.asarray(bigram(list(ids), vocab), dtype=float)
        right = follows(ids, vocab)
        if mine.shape != right.shape:
            raise expect.Mistake(f"rows of {mine.shape} instead of {right.shape}")
        if np.allclose(mine, right):
            continue
        slips = {
            "a row is what precedes a token; what follows it is asked for": follows(
                ids[::-1], vocab
            ),
            "without the one for each token, what was never seen is never drafted": (
                follows(ids, vocab, more=0)
            ),
        }
        for text, wrong in slips.items():
            if np.allclose(mine, wrong, equal_nan=True):
                raise expect.Mistake(text)
        raise expect.Mistake(f"after 0 comes {mine[0]}, and {right[0]} is expected")


def sums_to(p, q, rule):
    """The distribution of the first token by a rule's chance to keep and its redraw."""
    keep, again = rule(p, q)
    kept = q * keep
    return kept + (1 - kept.sum()) * again


def ratio(p, q):
    return np.minimum(1, p / q)


def rest(p, q):
    more = np.maximum(p - q, 0)
    return more / more.sum()


WRONG = {
    "the second draw is from p, so that what the draft likes gets two chances. Draw "
    "from what p has more of than q": lambda p, q: (ratio(p, q), p),
    "a token stays wherever p is at least q, and never below; keep it with the chance "
    "min(1, p / q)": lambda p, q: (p >= q, rest(p, q)),
    "it is kept with probability p, without a look at q": lambda p, q: (p, rest(p, q)),
    "every proposal is kept: that is the draft's text": lambda p, q: (1.0, p),
}


def far(counts, p):
    """Chi-square of some counts, in standard deviations above its mean."""
    expected = counts.sum() * p + 1e-9  # a wrong rule may never draw a token
    free = len(counts) - 1
    return (((counts - expected) ** 2 / expected).sum() - free) / (2 * free) ** 0.5


def ran(target, draft, drafted, random):
    """The reader's rule on copies, its outcome as a list of tokens."""
    found = checked(
        [p.copy() for p in target], [q.copy() for q in draft], list(drafted), random
    )
    return [int(token) for token in found]


def test_checked():
    random = np.random.default_rng(7)
    one, other = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    mine = ran([one, one, other], [one, one], [1, 1], random)
    if mine == [1, 1]:
        raise expect.Mistake(
            "all were kept, and no token was added; the last row gives one for free"
        )
    if mine != [1, 1, 2]:
        raise expect.Mistake(f"where both models are certain of 1, 1, then 2: {mine}")
    mine = ran([other, one, one], [one, one], [1, 1], random)
    if len(mine) > 1:
        raise expect.Mistake(
            f"the first is rejected, and {mine} follow; they were drafted after it and "
            "go with it"
        )
    if mine != [2]:
        raise expect.Mistake(f"the draft says 1, the large model 2: {mine}")
    rows = follows(TEXT, VOCAB)
    kept, counts = [], np.zeros((VOCAB, VOCAB))
    for start in range(VOCAB):
        for _ in range(PASSES // VOCAB):
            drafted = [start]
            while len(drafted) <= DRAFTED:
                drafted.append(int(random.choice(VOCAB, p=rows[drafted[-1]])))
            target, draft = CHAIN[drafted], rows[drafted[:-1]]
            mine = ran(target, draft, drafted[1:], random)
            counts[start, mine[0]] += 1
            kept.append(len(mine) - 1)
    off = max(far(c, p) for c, p in zip(counts, CHAIN, strict=True))
    expect.reading("chi-square of the first token, deviations", f"{off:.1f}")
    if off > 6:
        for text, rule in WRONG.items():
            slips = [sums_to(p, q, rule) for p, q in zip(CHAIN, rows, strict=True)]
            if all(far(c, p) < 6 for c, p in zip(counts, slips, strict=True)):
                raise expect.Mistake(text)
        worst = max(range(VOCAB), key=lambda a: far(counts[a], CHAIN[a]))
        shares = counts[worst] / counts[worst].sum()
        raise expect.Mistake(
            f"after {worst} the text has {shares.round(2)}, and the large model draws "
            f"from {CHAIN[worst].round(2)}"
        )
    tokens = 1 + sum(kept) / len(kept)
    rate = asked(kept, DRAFTED)
    expect.reading("tokens of a pass", f"{tokens:.2f}")
    expect.reading("by the formula", f"{tokens_per_pass(rate, DRAFTED):.2f}")


def asked(kept, drafted):
    return sum(kept) / sum(one + (one < drafted) for one in kept)


LOGS = [
    {"kept": [0, 4, 1, 2, 4], "drafted": 4},
    {"kept": [0, 0, 1], "drafted": 1},
    {"kept": [3, 3], "drafted": 3},
]


def test_acceptance():
    expect.function_matches(
        acceptance,
        asked,
        LOGS,
        rel=1e-9,
        mistakes={
            "That is the share of all drafted tokens, those after a rejection too.": (
                lambda kept, drafted: sum(kept) / (drafted * len(kept))
            ),
            "Those are tokens of a pass; the chance of one proposal is asked for.": (
                lambda kept, drafted: 1 + sum(kept) / len(kept)
            ),
            "Where all were kept, nothing more was asked about.": (
                lambda kept, drafted: sum(kept) / sum(one + 1 for one in kept)
            ),
        },
    )
