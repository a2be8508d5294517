"""The rule gives the large model's own distribution; a common wrong one does not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.speculation import rule
from stacklib.serving.speculation.rule import (
    certain,
    checked,
    distribution,
    overlap,
    residual,
)
from stacklib.tinylm.sampling import Sampling, draw

WEIGHTS = st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any)


def row(weights: list[int]) -> np.ndarray:
    return np.array(weights) / sum(weights)


@given(WEIGHTS, WEIGHTS)
def test_kept_and_redrawn_tokens_together_are_the_targets(one, other) -> None:
    p, q = row(one), row(other)
    given = np.divide(p, q, out=np.zeros(4), where=q > 0)
    kept = q * np.minimum(1, given)
    assert kept.sum() == pytest.approx(overlap(p, q))
    assert kept + (1 - kept.sum()) * residual(p, q) == pytest.approx(p)


def chi_square(counts: np.ndarray, expected: np.ndarray) -> float:
    """Deviations of chi-square from its mean, in its own; rare cells are one."""
    assert not counts[expected == 0].any()
    rare = expected < 5
    seen, told = (np.append(x[~rare], x[rare].sum()) for x in (counts, expected))
    gaps = (seen - told) ** 2 / np.maximum(told, 1)
    free = len(told) - 1
    return float((gaps.sum() - free) / np.sqrt(2 * free))


VOCAB, LONG = 3, 4


def texts(seed: int, draft_tokens: int, runs: int = 4000) -> tuple[float, float]:
    """How far the first tokens of many texts are from the target's own chain."""
    made = np.random.default_rng(seed)
    p, q = made.dirichlet(np.ones(VOCAB), (2, VOCAB))
    p[0, 1] = 0  # what is never drawn, and the draft likes
    p[0] /= p[0].sum()
    random = np.random.default_rng(seed + 1)
    counts = np.zeros((VOCAB,) * LONG)
    for _ in range(runs):
        text = [0]
        while len(text) <= LONG:
            drafted: list[int] = []
            for _ in range(draft_tokens):
                drafted.append(draw(q[[*text, *drafted][-1]], random))
            after = [text[-1], *drafted]
            rows = [p[a] for a in after], [q[a] for a in after[:-1]]
            text += checked(*rows, drafted, random)
        counts[tuple(text[1 : LONG + 1])] += 1
    expected = np.zeros_like(counts)
    for path in product(range(VOCAB), repeat=LONG):
        chances = [p[a, b] for a, b in zip((0, *path), path, strict=False)]
        expected[path] = runs * np.prod(chances)
    return chi_square(counts, expected)


@pytest.mark.parametrize("draft_tokens", [1, 3])
def test_texts_are_distributed_as_without_a_draft(draft_tokens) -> None:
    assert abs(texts(5, draft_tokens)) < 4


def test_a_redraw_from_p_changes_the_distribution(monkeypatch) -> None:
    monkeypatch.setattr(rule, "residual", lambda p, q: p)
    assert texts(5, 3) > 20


@settings(max_examples=30)
@given(
    logits=st.lists(st.floats(-3, 3), min_size=10, max_size=10),
    how=st.builds(
        Sampling,
        temperature=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
        top_k=st.integers(0, 3),
        top_p=st.sampled_from([0.3, 0.9, 1.0]),
        min_p=st.sampled_from([0.0, 0.3]),
    ),
    allowed=st.lists(st.booleans(), min_size=5, max_size=5).filter(any),
    seed=st.integers(0, 9),
)
def test_what_is_cut_or_masked_is_never_in_the_text(logits, how, allowed, seed) -> None:
    random, may = np.random.default_rng(seed), np.array(allowed)
    p, q = (distribution(part, how, may) for part in (logits[:5], logits[5:]))
    assert not p[~may].any() and not q[~may].any()
    for _ in range(10):
        drafted = [draw(q, random), draw(q, random)]
        tokens = checked([p] * 3, [q] * 2, drafted, random)
        assert p[tokens].all() and 1 <= len(tokens) <= 3
        if how.temperature == 0:
            assert set(tokens) == {int(p.argmax())}


def test_rows_that_do_not_fit_are_refused() -> None:
    random, p = np.random.default_rng(0), certain(1, 3)
    with pytest.raises(ValueError, match=r"1 drafted tokens with 0 rows .* and 1 of"):
        checked([p], [], [1], random)
    with pytest.raises(ValueError, match="token 2: drafted, and its q is 0"):
        checked([p, p], [p], [2], random)
    with pytest.raises(ValueError, match="allows no token"):
        distribution(np.zeros(3), Sampling(), np.zeros(3, dtype=bool))
    # Nothing may follow the last one: then nothing is added to what was kept.
    assert checked([p], [p], [1], random) == [1]
    assert checked([certain(0, 3)], [p], [1], random) == [0]
