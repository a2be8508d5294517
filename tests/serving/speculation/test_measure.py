"""The recorded runs: recomputed where that is cheap, and sums that must hold."""

from __future__ import annotations

import numpy as np
import pytest

from stacklib.serving.speculation.measure import run, starts
from stacklib.serving.speculation.record import LENGTH, NAMES, TEMPERATURES, measured
from stacklib.serving.speculation.simulate import Tally
from stacklib.tinylm import load
from stacklib.tinylm.acceptance import acceptance


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
