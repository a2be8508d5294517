"""Section 5.7: its loop, its ladder, its drawing, what it says of a chip."""

import json
import math

import numpy as np
import pytest

from stacklib.accelerators import byte_split_matmul
from stacklib.pages.accelerators import bytes as page
from stacklib.pages.accelerators.bytes import drawings
from stacklib.quantizers import LogFormat

from ...programs import loop_of

loop = loop_of("05-accelerators/bytes")


def test_the_loop_splits_as_the_package_does():
    assert loop.prints().startswith("0 of ")
    names: dict = {}
    exec(loop().partition("\nseen")[0], names)
    a = np.random.default_rng(0).integers(-32768, 32768, (9, 16))
    b = np.random.default_rng(1).integers(-128, 128, (16, 1))
    found = byte_split_matmul(a, b).product.reshape(-1)
    assert [names["by_bytes"](row, b[:, 0]) for row in a.tolist()] == found.tolist()


def test_a_signed_low_byte_is_wrong_for_many_sums_of_the_loop():
    wrong, _, seen, *_ = loop.prints(
        "(x & 255) * y", "((x & 255 ^ 128) - 128) * y"
    ).split()
    assert 0.4 < int(wrong) / int(seen) < 0.5  # of sums of two
    assert page.differing().si == pytest.approx(0.5, abs=0.01)
    assert page.all_pairs().si == 1 << 24


def test_the_error_of_the_grid_is_below_half_a_step():
    assert 0.9 * page.worst().si < page.found_error().si <= page.worst().si
    assert page.worst().si == pytest.approx(math.expm1(page.step().si / 2))


def test_the_ladders_own_step_meets_every_speed():
    base, head = page.BASE.si, int(page.head().si)
    speeds = page.claims.ladder(base, head)
    form = LogFormat(page.BITS, page.claims.dividing_step(base, head))
    codes = [form.encode(speed) for speed in speeds]
    each = int(page.own_codes().si)
    assert codes == [each * i for i in range(len(speeds))]
    assert codes[-1] == page.last_code().si < 256
    # a step longer, and the slowest pair has no code
    assert (each + 1) * (len(speeds) - 1) > 255


def test_a_full_turn_is_where_the_positions_say():
    base, head = page.BASE.si, int(page.head().si)
    speeds = page.claims.ladder(base, head)
    form = LogFormat(page.BITS, page.step().si)
    off = max(abs(form.decode(form.encode(s)) - s) for s in speeds)
    assert off * page.first_turn().si == pytest.approx(2 * math.pi)


def test_the_drawing_has_both_passes_and_a_sum():
    found = drawings.two_passes()
    for part in ("high multiplier", "low multiplier", "sum"):
        assert part in found.alt
    said = json.dumps(found.entry, default=str) + found.html
    assert "24 bits" in said and "16 bits" in said


def test_what_is_said_of_the_token_and_the_chip():
    speeds = 500_000.0 ** (-np.arange(64) / 64)
    assert page.llama_lost().si == (np.rint(speeds * 255) == 0).sum()
    # 64 query heads and 8 of the cache, 80 layers, 128 numbers times cosine and sine
    assert page.turned().si == 72 * 80 * 128 * 2
    assert page.claims.capacity().to("GB").value == 144
    assert page.claims.bandwidth().to("TB/s").value == pytest.approx(1.92)
    assert page.picture().si == 4 * 4 * 2


def test_all_places_asking_all_features_is_what_no_car_has_time_for():
    each = 1600 * (2 * 256 + 256)
    assert page.asked().si == 243 * 243 * 25 * each
    assert page.asked("near").si / page.asked().si == pytest.approx(3.3**3, rel=0.05)
    assert page.asking("ai4").si == pytest.approx(2 * page.asked().si / 50e12)
    assert page.asking("ai5").si * 8 == pytest.approx(page.asking("ai4").si)
