"""The formula by drawing, and where it fails."""

from __future__ import annotations

import numpy as np
import pytest

from stacklib.serving.speculation.formula import tokens_per_pass
from stacklib.serving.speculation.rule import overlap
from stacklib.serving.speculation.simulate import simulate, tally


def pair(acceptance: float) -> tuple[np.ndarray, np.ndarray]:
    """Three tokens whose overlap is ``acceptance``, liked in different amounts."""
    p = np.array([0.5, 0.3, 0.2])
    away = np.array([0.0, 0.0, 1.0])
    share = (1 - acceptance) / (1 - 0.2)
    return p, (1 - share) * p + share * away


@pytest.mark.parametrize("acceptance", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("draft_tokens", [0, 1, 4])
def test_drawing_agrees_with_the_formula(acceptance, draft_tokens) -> None:
    kind = pair(acceptance)
    assert overlap(*kind) == pytest.approx(acceptance)
    runs = 2000
    found = simulate([kind], draft_tokens, passes=runs, random=np.random.default_rng(2))
    kept = np.repeat(np.arange(draft_tokens + 1), found.kept)
    error = kept.std() / np.sqrt(runs)
    told = tokens_per_pass(acceptance, draft_tokens)
    assert found.passes == runs and abs(found.tokens_per_pass - told) <= 4 * error


def test_passages_of_two_kinds_yield_more_than_their_mean_acceptance() -> None:
    ends = (0.3, 0.9)
    kinds = [pair(a) for a in ends]
    found = simulate(kinds, 4, passes=6000, random=np.random.default_rng(4))
    mixed = np.mean([tokens_per_pass(a, 4) for a in ends])
    assert found.tokens_per_pass == pytest.approx(mixed, rel=0.03)
    assert found.tokens_per_pass > 1.1 * tokens_per_pass(np.mean(ends), 4)
    # Who gets far is likelier in an easy passage: each position keeps more.
    first, *_, last = found.by_position
    assert first == pytest.approx(0.6, abs=0.03) and last > 0.8


def test_a_tally_counts_what_was_asked_about() -> None:
    found = tally([0, 2, 1, 2, 0], 2)
    assert found.kept == (2, 1, 2) and found.reached == (5, 3)
    assert found.by_position == (3 / 5, 2 / 3) and found.rate == 5 / 8
    assert found.tokens_per_pass == 2
    with pytest.raises(ValueError, match="3 kept of 2"):
        tally([3], 2)
    with pytest.raises(ValueError, match="no kinds"):
        simulate([], 2, passes=1, random=np.random.default_rng(0))
