"""How long an attention takes: bounds by name, shares of its parts, bad input."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.kernels.schedule.attention_time import (
    Attention,
    _tiles,
    attention_time,
    cell,
    plan,
)
from stacklib.roofline.work.fit import Infeasible

from ...rows import refusals

PROMPT = {
    "batch": 4,
    "heads": 16,
    "kv_heads": 16,
    "queries": 4096,
    "keys": 4096,
    "head_dim": 128,
    "dtype": "bf16",
    "causal": True,
    "software": "tuned",
}
DECODE = PROMPT | {
    "batch": 64,
    "heads": 32,
    "kv_heads": 8,
    "queries": 1,
    "keys": 8192,
    "causal": False,
}


def test_bounds_are_named():
    assert attention_time("h100", **PROMPT).bound == "tensor"
    assert attention_time("b200", **PROMPT | {"dtype": "fp8"}).bound == "exp"
    assert attention_time("h100", **DECODE).bound == "memory"
    assert attention_time("h100", **DECODE | {"batch": 1, "keys": 64}).bound == "launch"
    few = PROMPT | {"batch": 1, "heads": 2, "kv_heads": 2, "queries": 512, "keys": 512}
    assert attention_time("h100", **few).bound in ("waves", "launch")
    assert attention_time("h100", **PROMPT | {"software": "naive"}).bound == "memory"


def test_the_width_of_keys_and_values_names_a_band():
    for dtype, width in (("bf16", "16 bit"), ("fp8", "8 bit")):
        work = Attention(1, 8, 8, 1, 512, 128, dtype)
        assert cell(work, hardware.get("h100-sxm"))[2] == width


def test_tuned_is_faster_than_library_and_library_than_naive():
    times = [
        attention_time("h100", **PROMPT | {"software": s}).time
        for s in ("tuned", "library", "naive")
    ]
    assert times == sorted(times) and times[2] > 3 * times[0]


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(["a100_sxm_80gb", "h100_sxm", "b200_sxm", "l40s", "mi300x"]),
    st.integers(1, 8),
    st.sampled_from([(8, 8), (32, 8), (32, 1)]),
    st.integers(1, 3000),
    st.integers(1, 3000),
    st.sampled_from([64, 128, 256]),
    st.booleans(),
    st.sampled_from(["naive", "library", "tuned"]),
    st.booleans(),
)
def test_nothing_beats_the_peak_or_the_memory(
    on, batch, heads, queries, keys, head_dim, causal, software, backward
):
    queries = min(queries, keys) if causal else queries
    work = Attention(
        batch, *heads, queries, keys, head_dim, "bf16", causal, backward=backward
    )
    found = attention_time(
        on,
        batch=batch,
        heads=heads[0],
        kv_heads=heads[1],
        queries=queries,
        keys=keys,
        head_dim=head_dim,
        dtype="bf16",
        causal=causal,
        software=software,
        backward=backward,
    )
    device = hardware.get(on)
    seen = work.flops if not causal or queries == keys else 0.0
    assert found.time >= seen / device.peak("bf16").si * 0.999
    once = batch * heads[1] * work.kv_bytes
    assert found.time >= once / device.memory_bandwidth.si * 0.999


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 400), st.integers(0, 400), st.sampled_from([16, 128]), st.booleans()
)
def test_tiles_are_those_that_a_mask_leaves(queries, more, rows, causal):
    keys = queries + more
    work = Attention(1, 1, 1, queries, keys, 64, causal=causal)
    counted, longest = 0, 0
    for first in range(0, queries, rows):
        seen = set()
        for query in range(first, min(queries, first + rows)):
            end = keys - queries + query + 1 if causal else keys
            seen |= {key // 128 for key in range(0, end, 128)} | {(end - 1) // 128}
        counted, longest = counted + len(seen), max(longest, len(seen))
    assert _tiles(work, rows, 128, 1) == (counted, longest)


def test_decode_is_split_over_keys_until_every_unit_reads():
    one = plan(Attention(1, 32, 8, 1, 32768, 128), "h100", "tuned")
    many = plan(Attention(64, 32, 8, 1, 32768, 128), "h100", "tuned")
    assert one.grid.splits == 132 // 8 and many.grid.splits == 1
    assert one.grid.rows == 16  # four heads of a group share a tile of an instruction
    assert plan(Attention(1, 8, 8, 1, 9, 64, "fp16"), "p40", "tuned").grid.rows == 1
    alone = [DECODE | {"batch": 1, "keys": n} for n in (128, 129, 512, 513)]
    times = [attention_time("l4", **asked).time for asked in alone]
    assert times == sorted(times)  # one key more is no quicker


def test_keys_are_read_again_unless_the_l2_holds_them():
    once = Attention(1, 16, 16, 2048, 2048, 128)
    assert plan(once, "b200", "tuned").moved == pytest.approx(
        16 * once.kv_bytes + once.query_bytes
    )
    large = Attention(1, 4, 4, 131072, 131072, 128)
    least = 4 * large.kv_bytes + large.query_bytes
    assert plan(large, "l4", "library").moved > 1.5 * least


def test_eight_bit_keys_halve_the_time_of_a_long_decode():
    full = attention_time("h100", **DECODE).time
    half = attention_time("h100", **DECODE, kv_dtype="fp8").time
    assert 0.45 < half / full < 0.6


def test_the_backward_pass_is_slower_than_its_operations_alone():
    forward = attention_time("h100", **PROMPT).time
    backward = attention_time("h100", **PROMPT, backward=True).time
    assert 2.5 < backward / forward < 4


def test_without_tiles_the_backward_pass_moves_more_scores():
    naive = PROMPT | {"software": "naive"}
    forward = attention_time("h100", **naive).time
    backward = attention_time("h100", **naive, backward=True).time
    assert 1.4 < backward / forward < 2.1  # three passes for two, four products for two


test_bad_input_is_refused = refusals(
    ({"heads": 10, "kv_heads": 4}, "kv_heads = 4 must divide 10"),
    ({"queries": 0}, "queries = 0"),
    ({"head_dim": 1.5}, r"head_dim = 1\.5"),
    ({"queries": 8192}, "queries = 8192 > keys = 4096"),
    ({"software": "tunde"}, "tuned"),
    ({"dtype": "fp99"}, "fp99"),
    by=lambda change: attention_time("h100", **PROMPT | change),
    error=(ValueError, LookupError),
)


def test_what_does_not_fit_is_infeasible_and_no_time():
    with pytest.raises(Infeasible, match="does not fit"):
        attention_time("l4", **DECODE | {"batch": 4096})


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 200), st.integers(0, 200), st.integers(1, 400), st.integers(1, 90)
)
def test_a_window_leaves_out_pairs_and_tiles(queries, before, window, rows):
    """Counted pair by pair, and tile by tile."""
    keys = queries + before
    work = Attention(2, 3, 3, queries, keys, 64, causal=True, window=window)
    seen = [
        [k for k in range(keys) if before + q - window < k <= before + q]
        for q in range(queries)
    ]
    each = 4.0 * work.batch * work.heads * work.head_dim
    if window < keys:
        assert work.flops == each * sum(map(len, seen))
    tiles = [
        len({k // 64 for q in range(at, min(queries, at + rows)) for k in seen[q]})
        for at in range(0, queries, rows)
    ]
    assert _tiles(work, rows, 64, 1) == (sum(tiles), max(tiles))


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["h100_sxm", "b200_sxm", "gb300", "l40s", "mi355x", "rtx_3090"]),
    st.sampled_from(["library", "tuned"]),
    st.tuples(*(st.integers(1, n) for n in (96, 16, 8, 700, 1500, 4))),
    st.booleans(),
)
def test_more_is_never_quicker_and_a_mask_never_slower(on, software, sizes, served):
    """A causal prompt of half a wave took up to 1.97 times one without a mask."""
    batch, kv_heads, group, queries, more, at = sizes
    asked = {"batch": batch, "heads": kv_heads * group, "kv_heads": kv_heads}
    asked |= {"keys": queries + more, "head_dim": 64 * at, "software": software}

    def time(**changed):
        return attention_time(on, **asked | changed).time

    most = 1 + 1e-9
    for few in (1, queries):
        base = time(queries=few)
        assert base <= most * time(queries=few, batch=2 * batch)
        both = time(queries=few, heads=2 * kv_heads * group, kv_heads=2 * kv_heads)
        assert base <= most * both
    full, half = (time(queries=queries, causal=c, served=served) for c in (0, 1))
    assert half <= most * full
