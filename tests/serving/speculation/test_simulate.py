"""The formula by drawing, where it fails, and the recorded runs."""

from __future__ import annotations

import numpy as np
import pytest

from stacklib.serving.speculation.formula import tokens_per_pass
from stacklib.serving.speculation.measure import run, starts
from stacklib.serving.speculation.record import LENGTH, NAMES, TEMPERATURES, measured
from stacklib.serving.speculation.rule import overlap
from stacklib.serving.speculation.simulate import Tally, simulate, tally
from stacklib.tinylm import load
from stacklib.tinylm.acceptance import acceptance


def pair(acceptance: float) -> tuple[np.ndarray, np.ndarray]:
    """Three tokens whose overlap is ``acceptance``, liked in different amounts."""
    p = np.array([0.5, 0.3, 0.2])
    away = np.array([0.0, 0.0, 1.0])
    share = (1 - acceptance) / (1 - 0.2)
    return p, (1 - share) * p + share * away


@pytest.mark.parametrize("kept_by", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("draft_tokens", [0, 1, 4])
def test_drawing_agrees_with_the_formula(kept_by, draft_tokens) -> None:
    kind = pair(kept_by)
    assert overlap(*kind) == pytest.approx(kept_by)
    runs = 2000
    found = simulate([kind], draft_tokens, passes=runs, random=np.random.default_rng(2))
    kept = np.repeat(np.arange(draft_tokens + 1), found.kept)
    error = kept.std() / np.sqrt(runs)
    told = tokens_per_pass(kept_by, draft_tokens)
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


def test_every_case_was_run_and_its_counts_agree() -> None:
    rows = measured()
    assert list(rows) == [f"{n} at {t:g}" for n in NAMES for t in TEMPERATURES]
    for row in rows.values():
        found = Tally(tuple(row["kept"]))
        assert len(found.kept) == LENGTH + 1 and found.passes <= row["passes"]
        assert row["by_position"] == pytest.approx(found.by_position, abs=5e-5)
        assert row["rate"] == pytest.approx(found.rate, abs=5e-5)
        told = (row["tokens_per_pass"], row["whole_tokens_per_pass"])
        assert told[0] == pytest.approx(row["tokens"] / row["passes"], abs=5e-5)
        assert told[1] == pytest.approx(found.tokens_per_pass, abs=5e-5)


def test_overlaps_are_those_of_the_models() -> None:
    tiny = load()
    found = acceptance(tiny, load("draft"), starts(tiny))
    assert found.rate == pytest.approx(measured()["draft at 1"]["overlap"], abs=1e-4)


def test_a_part_of_a_run_agrees_with_the_whole() -> None:
    found = run("draft", 1.0, texts=1)
    recorded = Tally(tuple(measured()["draft at 1"]["kept"]))
    kept = np.repeat(np.arange(LENGTH + 1), found["kept"])
    error = kept.std() / np.sqrt(len(kept))
    assert abs(1 + kept.mean() - recorded.tokens_per_pass) < 4 * error
    assert found["tokens"] == 192
