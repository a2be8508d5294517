"""Padded collectives: never more than their own time, and never less for more bytes."""

from itertools import pairwise

import pytest

from stacklib.interconnect.selection.machine import fabric
from stacklib.interconnect.selection.padded import padded_time
from stacklib.interconnect.selection.timed import collective_time

FALLS = [  # a border of NCCL's: device, ranks, bytes from which a sum takes less time
    ("mi455x", 4, 1763486),
    ("mi455x", 8, 4194304),
    ("a100-sxm-80gb", 16, 4194304),
    ("rtx-a6000", 16, 3526974),
    ("h800-sxm", 16, 262144),
]


@pytest.mark.rows("device, ranks, border", FALLS)
def test_a_border_is_reached_by_padding(device, ranks, border):
    on = fabric(device, ranks)
    sizes = [border * share // 100 for share in range(40, 161, 4)]
    plain = [collective_time("all_reduce", n, on, direct=True).time for n in sizes]
    padded = [padded_time("all_reduce", n, on, direct=True) for n in sizes]
    assert any(one > more for one, more in pairwise(plain))
    assert all(one <= more * (1 + 1e-9) for one, more in pairwise(padded))
    assert all(mine <= own for mine, own in zip(padded, plain, strict=True))
    assert any(mine == own for mine, own in zip(padded, plain, strict=True))


def test_where_nothing_falls_padding_changes_nothing():
    on = fabric("h100-sxm", 8)
    for size in (1, 3, 16384, 1 << 20, 5_000_000, 1 << 28):
        for kind in ("all_reduce", "all_to_all"):
            own = collective_time(kind, size, on, direct=True).time
            assert padded_time(kind, size, on, direct=True) == own
    wide = fabric("gb200", 16)  # who leaves all to the library pads nothing
    own = collective_time("all_reduce", 16384, wide).time
    assert padded_time("all_reduce", 16384, wide, direct=False) == own
