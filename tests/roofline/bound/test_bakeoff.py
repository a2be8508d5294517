"""CPU against GPU: the parts add up, and the crossover is where the winner changes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.roofline import Infeasible
from stacklib.roofline.bound import bakeoff, gemm
from stacklib.roofline.bound.bakeoff import bake_off, crossover


def slow(n: int) -> float:
    """A CPU of 200 GFLOP/s."""
    return 2 * n**3 / 200e9


def test_the_parts_are_those_of_the_models():
    found = bake_off(1024, slow(1024), "h100-sxm")
    work = gemm.product(m=1024, n=1024, k=1024, dtype="fp32")
    assert found.gpu == gemm.gemm_time(work, "h100-sxm", "host").time
    assert found.transfer == pytest.approx(3 * 1024**2 * 4 / 63e9)
    assert found.there_and_back == found.gpu + found.transfer
    assert found.pays and found.speedup < found.speedup_resident


@settings(max_examples=20, deadline=None)
@given(st.floats(2e9, 2e12))
def test_the_crossover_is_where_the_winner_changes(rate):
    def cpu(n):
        return 2 * n**3 / rate

    n = crossover(cpu, "h100-sxm")
    assert bake_off(n, cpu(n), "h100-sxm").pays
    assert n == 1 or not bake_off(n - 1, cpu(n - 1), "h100-sxm").pays


def test_a_faster_cpu_moves_the_crossover_up_and_a_fast_one_never_pays():
    assert crossover(lambda n: slow(n) / 10, "h100-sxm") > crossover(slow, "h100-sxm")
    assert crossover(lambda n: 1e-9, "h100-sxm") is None


def test_bad_input_never_gives_a_number():
    with pytest.raises(ValueError, match="n"):
        bake_off(0, 1.0, "h100-sxm")
    with pytest.raises(ValueError, match="cpu = "):
        bake_off(8, 0.0, "h100-sxm")
    with pytest.raises(ValueError, match="moved"):
        bakeoff.transfer_time(-1, "h100-sxm")
    with pytest.raises(Infeasible):
        bake_off(200_000, 1.0, "h100-sxm")
