"""The L2 of a device as a cache."""

import pytest

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.memory.cache.l2 import l2_cache
from stacklib.memory.cache.waves import L2_WAYS


@pytest.mark.rows("line", [128, 16384, 32768])
@pytest.mark.rows("parts", [1, 2])
@pytest.mark.rows("key", ["h100-sxm", "a100-sxm-80gb", "t4", "rtx-4090"])
def test_it_holds_what_the_data_sheet_says_to_within_two_sets(key, parts, line):
    cache = l2_cache(key, line, parts=parts)
    printed = hardware.get(key).l2_capacity.si / parts
    assert 0 <= printed - cache.size < 2 * L2_WAYS * line
    assert cache.ways == L2_WAYS and cache.line == line
    assert cache.sets % 2 == 1 and not cache.hashed


def test_what_has_no_l2_is_refused():
    unknown = next(
        d
        for d in map(hardware.get, hardware.names())
        if d.fields["l2_capacity"] is None
    )
    with pytest.raises(UnknownSpec, match="is unknown"):
        l2_cache(unknown)
    for arguments, message in (
        ({"parts": 0}, "parts = 0"),
        ({"line": 2**30}, "line = 1073741824"),
    ):
        with pytest.raises(ValueError, match=message):
            l2_cache("h100-sxm", **arguments)
