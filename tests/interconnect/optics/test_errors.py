"""PAM-4 in noise: the closed form against symbols that are sent, and the code."""

import math
from itertools import pairwise

import pytest

from stacklib.interconnect.optics import errors
from stacklib.interconnect.optics.budget import watts
from stacklib.interconnect.optics.errors import (
    bit_errors,
    codeword_errors,
    gray,
    needed_reach,
    reach,
    run_symbols,
    sensitivity,
    symbol_errors,
    tail,
)


@pytest.mark.rows("levels", [2, 4, 8])
@pytest.mark.rows("far", [0.8, 1.6])
def test_closed_form_is_what_is_sent(levels, far):
    symbols = 40_000
    wrong, bits = run_symbols(symbols, far, levels, seed=levels)
    for count, share in (
        (wrong, symbol_errors(far, levels)),
        (bits / math.log2(levels), bit_errors(far, levels)),
    ):
        spread = math.sqrt(share * symbols)
        assert abs(count - share * symbols) < 4 * spread


def test_a_label_that_is_not_gray_is_seen(monkeypatch):
    """Planted: labels in binary. Two bits are wrong where the middle is crossed."""
    right = bit_errors(1.6)
    monkeypatch.setattr(errors, "gray", lambda level: level)
    _, bits = run_symbols(40_000, 1.6, seed=4)
    assert abs(bits / 2 - right * 40_000) > 8 * math.sqrt(right * 40_000)


def test_gray_neighbours_differ_in_one_bit():
    labels = [gray(n) for n in range(8)]
    assert sorted(labels) == list(range(8))
    assert all((a ^ b).bit_count() == 1 for a, b in pairwise(labels))


def test_far_apart_only_neighbours_count():
    # 3/4 Q(d) for PAM-4, as textbooks have it
    assert bit_errors(4.0) == pytest.approx(0.75 * tail(4.0), rel=1e-6)
    assert bit_errors(3.0, 2) == pytest.approx(tail(3.0))


def test_sensitivity_is_the_inverse():
    for levels in (2, 4):
        least = sensitivity(2.4e-4, 3e-6, 0.8, levels)
        far = reach(least, 3e-6, 0.8, levels)
        assert bit_errors(far, levels) == pytest.approx(2.4e-4, rel=1e-6)
    # the same noise: four levels need three times the light, at most
    more = sensitivity(2.4e-4, 3e-6, 0.8) - sensitivity(2.4e-4, 3e-6, 0.8, 2)
    assert more == pytest.approx(10 * math.log10(3), abs=0.2)
    assert reach(-3.0, 3e-6, 0.8, 2) == pytest.approx(watts(-3.0) * 0.8 / 6e-6)


def test_the_code_mends_what_the_standard_allows():
    # IEEE 802.3: 2.4e-4 before the code, so that frames are lost as at 1e-13 or so.
    assert 1e-15 < codeword_errors(2.4e-4) < 1e-11
    assert codeword_errors(0.0) == 0 and codeword_errors(1.0) == 1
    assert codeword_errors(1e-3) > 1e5 * codeword_errors(2.4e-4)
    assert codeword_errors(2e-2) == pytest.approx(1.0, abs=1e-6)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="levels = 3: one of 2, 4, 8"):
        bit_errors(1.0, 3)
    with pytest.raises(ValueError, match=r"errors = 0\.5"):
        needed_reach(0.5)
    with pytest.raises(ValueError, match="noise"):
        reach(-3.0, 0.0, 0.8)
    with pytest.raises(ValueError, match="at most one"):
        codeword_errors(1.5)
    with pytest.raises(ValueError, match="symbols"):
        run_symbols(0, 1.0)
