"""What checking costs: the account's lines, each over what it goes with."""

from __future__ import annotations

import pytest

from stacklib.roofline.work.fit import fit_memory
from stacklib.serving import account
from stacklib.serving.speculation.cost import checking, costs, gain, room, turning_batch
from stacklib.serving.speculation.formula import speedup
from stacklib.serving.token.shape import ATTENTION, HEAD, PRODUCTS

LARGE, SMALL, ON = "llama-3-70b", "llama-3.2-1b", "h100-sxm"
HERE = {"tp": 8, "context": 4096.0}


def test_weights_and_each_cache_are_read_once_and_arithmetic_goes_with_rows() -> None:
    step = account(LARGE, ON, batch=16.0, **HERE)
    five = checking(LARGE, ON, 4, batch=16.0, **HERE)
    for name in (PRODUCTS, HEAD):
        assert five[name].bytes == pytest.approx(step[name].bytes)
    for name in (PRODUCTS, HEAD, ATTENTION):
        assert five[name].operations == pytest.approx(5 * step[name].operations)
    assert five[ATTENTION].t_bytes == step[ATTENTION].t_bytes
    assert not five.missing()


@pytest.mark.parametrize("mode", ["limit", "calibrated"])
def test_a_pass_that_checks_nothing_is_a_step(mode) -> None:
    for batch in (1.0, 40.0):
        both = [
            found.total()
            for found in (
                checking(LARGE, ON, 0, batch=batch, mode=mode, **HERE),
                account(LARGE, ON, batch=batch, mode=mode, **HERE),
            )
        ]
        assert both[0] == pytest.approx(both[1], rel=1e-9)


def test_quantities_and_floats_agree() -> None:
    asked = {"acceptance": 0.8, "tp": 8}
    traced = gain(LARGE, SMALL, ON, **asked, batch=4, context=4096)
    plain = gain(LARGE, SMALL, ON, **asked, batch=4.0, context=4096.0)
    assert float(traced) == pytest.approx(plain, rel=1e-9)


def test_it_gains_what_is_published_alone_and_loses_in_a_crowd() -> None:
    # Two to three times at .7 to .8 with four, while the rows are free.
    alone = [gain(LARGE, SMALL, ON, acceptance=a, **HERE) for a in (0.7, 0.8)]
    assert 2.2 < alone[0] < alone[1] < 2.8
    both = costs(LARGE, "llama-3-8b", ON, 4, batch=64.0, **HERE)
    assert speedup(0.7, 4, *both) < 1


@pytest.mark.parametrize("acceptance", [0.2, 0.607, 0.7])
def test_it_turns_between_two_batches(acceptance) -> None:
    asked = {"tp": 8, "acceptance": acceptance}
    turn = turning_batch(LARGE, "llama-3-8b", ON, **asked)
    assert turn is not None
    before, after = (
        gain(LARGE, "llama-3-8b", ON, **asked, batch=float(b), context=4096.0)
        for b in (max(1, turn - 1), turn)
    )
    assert after < 1 and (before >= 1 or turn == 1)


def test_it_never_turns_where_memory_ends_first() -> None:
    assert turning_batch(LARGE, SMALL, ON, tp=8, acceptance=0.8) is None


def test_what_an_engine_loses_is_paid_by_every_step() -> None:
    bare, lossy = (
        costs(LARGE, SMALL, ON, 4, **HERE, lost=lost) for lost in (None, (1.0, 0.5))
    )
    step = account(LARGE, ON, **HERE).total()
    told = [(c * step + x) / (step + 1) for c, x in zip(bare, (0.5, 1.0), strict=True)]
    assert lossy == pytest.approx(told)


def test_a_draft_takes_room_for_its_own_caches() -> None:
    both = room(LARGE, SMALL, ON, tp=8)
    for batch, fits in ((both, True), (both + 1, False)):
        needs = [fit_memory(m, on=ON, tp=8, batch=batch) for m in (LARGE, SMALL)]
        assert (sum(fit.need.si for fit in needs) <= needs[0].have.si) is fits
    assert fit_memory(LARGE, on=ON, tp=8, batch=both + 1).fits
    assert room(LARGE, SMALL, ON, tp=1) == 0
    assert turning_batch(LARGE, SMALL, ON, tp=1, acceptance=0.8) is None


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"acceptance": 1.2}, "acceptance"),
        ({"acceptance": 0.8, "draft_tokens": 2.5}, "draft_tokens"),
        ({"acceptance": 0.8, "context": 0}, "context"),
    ],
)
def test_what_makes_no_sense_is_named(asked, named) -> None:
    with pytest.raises(ValueError, match=named):
        turning_batch(LARGE, SMALL, ON, tp=8, **asked)
