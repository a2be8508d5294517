"""The annex on bytes: its ladder, its loop, its drawing."""

import json
import math

import numpy as np
import pytest

from stacklib.pages.quantizers import bytes as page
from stacklib.pages.quantizers.bytes import drawings
from stacklib.quantizers import LogFormat, byte_split

from ...programs import loop_of

loop = loop_of("07-quantizers/annex-bytes")


def test_the_loop_splits_as_the_package_does(capsys):
    names: dict = {}
    exec(loop(), names)
    assert capsys.readouterr().out.startswith("0 of ")
    for a in (-32768, -129, -1, 0, 128, 255, 32767):
        for b in (-128, -1, 0, 127):
            assert names["split"](a, b) == byte_split(a, b).product
    changed = loop().replace("low = a & 255 ", "low = (a & 255 ^ 128) - 128 ")
    assert changed != loop()
    exec(changed, {})
    wrong, _, seen, *_ = capsys.readouterr().out.split()
    assert int(wrong) / int(seen) == pytest.approx(0.5, abs=0.01)


def test_a_signed_low_byte_is_wrong_as_often_as_said():
    a = np.arange(-(1 << 15), 1 << 15, dtype=np.int32)[:, None]
    b = np.arange(-128, 128, dtype=np.int32)[None]
    read = (a >> 8) * b * 256 + a.astype(np.int8).astype(np.int32) * b
    assert page.differing().si == (read != a * b).mean()
    assert page.agreeing().si == a.size * b.size


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
