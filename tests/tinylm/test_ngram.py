"""Kneser-Ney: a distribution, and equal to a plain reading of its definition."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.tinylm.ngram import NGram, closed_form

from ..rows import refusals


class Slow:
    """Interpolated Kneser-Ney with dictionaries, from the formulas."""

    def __init__(self, ids, vocab, order, discounts):
        self.vocab, self.order, self.discounts = vocab, order, discounts
        self.counts = {order: Counter(self.grams(ids, order))}
        for n in range(order - 1, 0, -1):
            # in how many contexts: distinct longer n-grams that end so
            self.counts[n] = Counter(g[1:] for g in self.counts[n + 1])
        self.after = {n: defaultdict(dict) for n in self.counts}
        for n, counts in self.counts.items():
            for gram, count in counts.items():
                self.after[n][gram[:-1]][gram[-1]] = count

    @staticmethod
    def grams(ids, n):
        return [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]

    def p(self, context, token, n=None):
        n = self.order if n is None else n
        if n == 0:
            return 1 / self.vocab
        seen = self.after[n].get(tuple(context[len(context) - (n - 1) :]), {})
        lower = self.p(context, token, n - 1)
        if not seen:
            return lower
        off = self.discounts[n - 1]
        take = lambda c: off[min(c, 3) - 1] if c else 0.0  # noqa: E731
        total = sum(seen.values())
        own = max(seen.get(token, 0) - take(seen.get(token, 0)), 0)
        spread = sum(take(c) for c in seen.values())
        return (own + spread * lower) / total


texts = st.lists(st.integers(0, 5), min_size=8, max_size=60)


@given(texts, st.lists(st.integers(0, 5), min_size=1, max_size=12), st.integers(1, 4))
@settings(max_examples=80, deadline=None)
def test_it_equals_the_plain_reading(ids, scored, order):
    model = NGram(np.array(ids), 6, order)
    slow = Slow(ids, 6, order, model.discounts)
    told = [5] * (order - 1) + scored
    wanted = [
        slow.p(told[max(0, i - order + 1) : i] if order > 1 else [], told[i])
        for i in range(order - 1, len(told))
    ]
    assert model.probabilities(np.array(scored)) == pytest.approx(wanted)


@given(texts, st.lists(st.integers(0, 5), min_size=3, max_size=3), st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_probabilities_after_any_context_sum_to_one(ids, context, order):
    model = NGram(np.array(ids), 6, order)
    p = [model.probabilities(np.array([*context, t]))[-1] for t in range(6)]
    assert sum(p) == pytest.approx(1) and min(p) > 0


def test_tuning_never_makes_the_tuning_text_worse():
    random = np.random.default_rng(0)
    ids = random.integers(0, 8, 600).cumsum() % 8
    other = random.integers(0, 8, 200).cumsum() % 8
    before = NGram(ids, 8, 3)
    after = before.tuned(other)
    cost = lambda m: -np.log(m.probabilities(other)).mean()  # noqa: E731
    assert cost(after) < cost(before)
    for three in after.discounts:
        assert all(0 < d < k + 1 for k, d in enumerate(three))


def test_discounts_follow_chen_and_goodman():
    counts = np.array([1] * 100 + [2] * 40 + [3] * 20 + [4] * 10)
    y = 100 / 180
    expected = (1 - 2 * y * 0.4, 2 - 3 * y * 0.5, 3 - 4 * y * 0.5)
    assert closed_form(counts) == pytest.approx(expected)
    assert closed_form(np.array([5, 6])) == (0.75, 0.75, 0.75)


test_bad_input_is_named = refusals(
    ([1], 6, 2, "order = 2 over 1 tokens"),
    ([1, 2], 6, 0, "order = 0"),
    ([1, 7], 6, 1, "ids reach 1 to 7"),
    ([1, 2] * 9, 2048, 6, "do not fit 63 bits"),
    by=lambda ids, vocab, order: NGram(np.array(ids), vocab, order),
)
