"""Checking JSON beside the processor: what was measured, and what bounds a card."""

from __future__ import annotations

from itertools import pairwise

import pytest

from stacklib.quantity import UnknownName, chosen
from stacklib.serving import offload
from stacklib.serving.agentic.offload import CHECKS, SIZES, flat_states, largest


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("size", SIZES)
def test_a_core_and_a_card(check, size):
    found = offload(size, check=check)
    assert found.time.kind == "measured"
    assert found.rate.si == pytest.approx(min(30e6, 50e9 / size))
    assert found.cores.si == pytest.approx(found.rate.si * found.time.si)
    ratio = 15 * found.time.si / (0.8 / found.rate.si)
    assert found.saved.si == pytest.approx(ratio)


def test_the_rate_needs_small_answers():
    assert largest().si == pytest.approx(400e9 / 8 / 30e6)  # 1.67 kB
    assert offload(1024).rate.si == 30e6 > offload(4096).rate.si


def test_what_is_saved_is_little_of_a_tools_time():
    found = offload(1024)
    assert found.of(0.5).si < 1e-3 < offload(16384, check="automaton").of(0.5).si
    assert found.of(0.0).si == 1


def test_one_input_moved_moves_the_answer_its_way():
    base = offload(1024)
    assert offload(1024, rate=15e6).cores.si == pytest.approx(base.cores.si / 2)
    assert offload(1024, core_power=chosen(30, "W")).saved.si == pytest.approx(
        2 * base.saved.si
    )
    assert offload(1024, engine_power=1.6).saved.si == pytest.approx(base.saved.si / 2)


def test_without_a_stack_each_level_doubles_the_states():
    """An automaton has to remember of every open bracket which of two it is."""
    more = [b - a for a, b in pairwise(map(flat_states, range(4)))]
    assert more == [more[0], 2 * more[0], 4 * more[0]]


def test_bad_input_is_refused():
    for size in (0, -1, 1000, True, 1024.5, float("nan")):
        with pytest.raises(ValueError, match="measured are 256, 1024, 4096, 16384"):
            offload(size)
    with pytest.raises(UnknownName, match="known: automaton, parser"):
        offload(check="regex")
    with pytest.raises(UnknownName):
        offload(link="pigeon-post")
    for wrong in (-1.0, float("nan"), True, 0.0):
        with pytest.raises(ValueError, match="answers checked by the engine"):
            offload(rate=wrong)
    with pytest.raises(ValueError, match="depth = -1"):
        flat_states(-1)
    with pytest.raises(ValueError, match="seconds = -1"):
        offload().of(-1.0)
