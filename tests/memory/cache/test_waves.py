"""L2 under tiles three ways: closed form, simulated trace, and a real computation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.memory import Cache, TiledMatmul
from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.recorded import Recorder, attend, multiply
from stacklib.memory.cache.waves import stream_trace, wave_reads, waves

from ...rows import refusals

TILE = 64  # bytes; a tile of 4 rows of 8 numbers of 2 bytes


def fully_associative(tiles: int) -> Cache:
    return Cache(tiles * TILE, tiles, TILE)


def naive(q, k, v, causal):
    """Attention in float64 with the whole matrix of scores."""
    group = len(q) // len(k)
    keys, values = (np.repeat(a.astype(float), group, axis=0) for a in (k, v))
    scores = np.einsum("hqd,hkd->hqk", q.astype(float), keys) / np.sqrt(q.shape[2])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hqk,hkd->hqd", shares / shares.sum(-1, keepdims=True), values)


EITHER = st.booleans()


@st.composite
def attentions(draw, causal=EITHER):
    kv_heads, group = draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 3]))
    tiles, cut = draw(st.integers(1, 6)), draw(st.sampled_from([2, 4, 8]))
    masked = draw(causal)
    keys = 8 * tiles if masked else 8 * draw(st.integers(1, 6))
    return TiledAttention(
        kv_heads * group, kv_heads, 8 * tiles, keys, 4, 8, cut, 4, masked
    )


@given(
    attentions(),
    st.integers(1, 9),
    st.integers(1, 12),
    st.booleans(),
    st.sampled_from([16, 32]),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_what_attention_touches_is_the_trace_and_its_result_is_attention(
    plan, at_once, section, longest_first, line, seed
):
    r = np.random.default_rng(seed)
    q = r.normal(size=(plan.heads, plan.queries, 4)).astype(np.float32)
    k, v = r.normal(size=(2, plan.kv_heads, plan.keys, 4)).astype(np.float32)
    how = {"at_once": at_once, "section": section, "longest_first": longest_first}
    out, recorded = attend(plan, q, k, v, **how, line=line)
    assert np.abs(out - naive(q, k, v, plan.causal)).max() < 1e-5
    generated = plan.trace(**how, line=line)
    assert recorded.addresses.tolist() == generated.addresses.tolist()
    assert recorded.stores.tolist() == generated.stores.tolist()
    reads = generated.addresses[~generated.stores]
    assert len(reads) * line == plan.bytes_read
    assert len(set(reads.tolist())) * line == plan.bytes_once


@given(
    attentions(causal=st.just(False)),
    st.integers(1, 9),
    st.integers(1, 12),
    st.integers(0, 80),
)
@settings(max_examples=200, deadline=None)
def test_waves_miss_what_the_simulated_cache_misses(plan, at_once, section, more):
    # Valid where a step of a wave fits. The formula takes time as continuous: what lies
    # between two reads may be off by a step of every stream. It takes all queries as
    # read before the first step and all results as written after the last, so those
    # two steps may be off as well.
    line, blocks = plan.k_tile_bytes, [*plan.order(section)]
    own = -(-plan.q_tile_bytes // line)
    capacity = at_once * (2 + 2 * own) + more  # in tiles
    simulated = plan.trace(at_once=at_once, section=section, line=line)
    cache = Cache(capacity * line, capacity, line)
    hit = cache.run(simulated.addresses, simulated.stores).hit[~simulated.stores]
    heads = [{h // plan.group for h, _ in w} for w in waves(blocks, at_once)]
    step = 2 * max(map(len, heads))  # tiles of keys and values
    smaller, told, larger = (
        plan.reads(at_once=at_once, capacity=tiles * line, section=section)
        for tiles in (capacity - step, capacity, capacity + step)
    )
    assert told.asked == len(hit) * line == plan.bytes_read
    assert plan.bytes_once <= told.missed + 1e-6
    ends = 2 * 2 * line * sum(map(len, heads))
    missed = (~hit).sum() * line
    assert larger.missed - ends - 1e-6 <= missed <= smaller.missed + ends + 1e-6


LONG = TiledAttention(16, 8, 4096, 16384)  # 8 MiB of keys and values a head
WIDE = TiledAttention(32, 8, 4096, 4096)  # 2 MiB


@pytest.mark.rows(
    ("plan", "at_once", "section", "mib"),
    [
        (LONG, 16, 1, 6),
        (LONG, 16, 1, 24),
        (LONG, 16, 16, 24),
        (LONG, 16, 16, 96),
        (WIDE, 132, 1, 18),
        (WIDE, 132, 4, 18),
        (WIDE, 132, 32, 12),
        (WIDE, 132, 32, 40),
    ],
)
def test_at_full_size_they_agree_within_a_percent_of_the_misses(
    plan, at_once, section, mib
):
    # Away from the size where a wave just fits. The cache has sets of 16 ways, the
    # formula has none.
    line = plan.k_tile_bytes
    sets = mib * 2**20 // (16 * line)
    cache = Cache(sets * 16 * line, 16, line, hashed=sets & (sets - 1) == 0)
    trace = plan.trace(at_once=at_once, section=section, line=line)
    told = plan.reads(at_once=at_once, capacity=cache.size, section=section)
    simulated = 1 - trace.read_hit_rate(cache)
    assert simulated == pytest.approx(1 - told.hit_rate, rel=0.01)


def test_lines_and_tiles_tell_the_same():
    plan = TiledAttention(8, 2, 512, 512, 64, 64, 64)
    for section in (1, 8):
        rates = []
        for line in (128, plan.k_tile_bytes):
            trace = plan.trace(at_once=6, section=section, line=line)
            rates.append(trace.read_hit_rate(Cache(2**18, 2**18 // line, line)))
        assert rates[0] == pytest.approx(rates[1], abs=1e-12)


def test_a_wrong_order_or_a_lost_store_would_show():
    plan = TiledAttention(4, 2, 32, 32, 4, 8, 8, 4)
    r = np.random.default_rng(0)
    q = r.normal(size=(4, 32, 4)).astype("f4")
    k, v = r.normal(size=(2, 2, 32, 4)).astype("f4")
    _, recorded = attend(plan, q, k, v, at_once=3, section=1, line=32)
    for wrong in ({"at_once": 4, "section": 1}, {"at_once": 3, "section": 2}):
        other = plan.trace(**wrong, line=32)
        assert recorded.addresses.tolist() != other.addresses.tolist()
    keys_first = TiledAttention(4, 4, 32, 32, 4, 8, 8, 4).trace(at_once=3, line=32)
    assert recorded.addresses.tolist() != keys_first.addresses.tolist()


def test_longest_first_ends_sooner_when_causal():
    plan = TiledAttention(6, 6, 64, 64, 4, 8, 8, 4, causal=True)
    ends = {
        first: max(s.ends for s in plan.schedule(5, 6, first))
        for first in (False, True)
    }
    work = sum(s.steps for s in plan.schedule(5))
    assert work / 5 <= ends[True] < ends[False]


@given(attentions(), st.integers(1, 9), st.integers(1, 12), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_schedule_runs_every_block_once_and_one_a_slot(
    plan, at_once, section, longest_first
):
    starts = plan.schedule(at_once, section, longest_first)
    blocks = [(s.head, s.tile) for s in starts]
    assert sorted(blocks) == sorted(plan.order())
    busy = [(s.slot, t) for s in starts for t in range(s.begins, s.ends)]
    assert len(set(busy)) == len(busy)
    begins = [s.begins for s in starts]
    assert begins == sorted(begins)


# -- products ----------------------------------------------------------------------


@given(
    st.integers(1, 6),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(1, 7),
    st.sampled_from(["row", "column", "grouped"]),
    st.integers(1, 4),
    st.integers(4, 60),
)
@settings(max_examples=200, deadline=None)
def test_a_product_three_ways(down, across, steps, at_once, how, group, more):
    # Tiles of 4 by 8 and 8 by 4 numbers: whole lines of 16 bytes.
    plan = TiledMatmul(4 * down, 8 * across, 8 * steps, 4, 8, 8, 2)
    r = np.random.default_rng(1)
    x = r.integers(-3, 4, (plan.m, plan.k)).astype(np.float16)
    w = r.integers(-3, 4, (plan.k, plan.n)).astype(np.float16)
    order = {"how": how, "group": group, "at_once": at_once}
    y, recorded = multiply(plan, x, w, **order, line=16)
    assert np.array_equal(y, x @ w)
    generated = plan.trace(**order, line=16)
    assert recorded.addresses.tolist() == generated.tolist()
    # a tile of x has 4 lines and one of w 8; so has each band, a step
    sizes = {"x": 4 * 16 * steps, "w": 8 * 16 * steps}
    blocks = [(("x", i), ("w", j)) for i, j in plan.order(how, group)]
    lines = 12 * at_once + more
    held = [{s for b in w for s in b} for w in waves(blocks, at_once)]
    step = max(sum(sizes[s[0]] for s in w) for w in held) // steps
    smaller, told, larger = (
        wave_reads(blocks, lambda s: sizes[s[0]], at_once=at_once, capacity=size)
        for size in (16 * lines - step, 16 * lines, 16 * lines + step)
    )
    run = Cache(lines * 16, lines, 16).run(generated)
    assert told.asked == 16 * run.accesses
    # as above, without queries and results: off by a step of every stream at most
    assert larger.missed - 1e-6 <= 16 * run.misses <= smaller.missed + 1e-6


@pytest.mark.rows("group", [1, 4, 12, 24])
def test_bands_of_blocks_at_full_size(group):
    plan = TiledMatmul(4096, 4096, 4096, 128, 128, 64)
    blocks = [(("x", i), ("w", j)) for i, j in plan.order("grouped", group)]
    tile, steps = 128 * 64 * 2, 64
    told = wave_reads(blocks, lambda _: tile * steps, at_once=132, capacity=8 * 2**20)
    run = Cache(8 * 2**20, 16, tile, hashed=True).run(
        stream_trace(blocks, at_once=132, steps=steps, tile=tile)
    )
    assert run.misses / run.accesses == pytest.approx(1 - told.hit_rate, rel=0.01)


def test_tiles_of_a_stream_are_read_in_step():
    trace = stream_trace(["ab", "ac", "bc"], at_once=2, steps=2, tile=10)
    assert (trace // 10).tolist() == [0, 2, 0, 4, 1, 3, 1, 5, 2, 4, 3, 5]


# -- what is refused ---------------------------------------------------------------

GOOD = {
    "heads": 4,
    "kv_heads": 2,
    "queries": 64,
    "keys": 64,
    "tile_q": 16,
    "tile_k": 16,
}


test_what_is_no_attention_is_refused = refusals(
    ({"heads": 5}, "heads = 5 is no multiple of kv_heads = 2"),
    ({"heads": 0}, "heads = 0"),
    ({"width": True}, "width = True"),
    ({"queries": 60}, "queries = 60 is no multiple of tile_q"),
    ({"keys": 32, "causal": True}, "causal with 64 queries and 32 keys"),
    ({"head_dim": 2.0}, "head_dim = 2.0"),
    by=lambda fields: TiledAttention(**{**GOOD, **fields}),
)


def test_what_cannot_run_is_refused():
    plan = TiledAttention(**GOOD)
    for call, message in (
        (lambda: plan.schedule(0), "at_once = 0"),
        (lambda: list(plan.order(0)), "section = 0"),
        (lambda: plan.trace(at_once=2, line=96), "line = 96"),
        (lambda: plan.reads(at_once=2, capacity=float("nan")), "capacity = nan"),
        (lambda: waves([], 2), "no blocks"),
        (lambda: waves("ab", True), "at_once = True"),
        (lambda: stream_trace("ab", at_once=1, steps=0, tile=4), "steps = 0"),
        (lambda: wave_reads("a", float, at_once=1, capacity=1, own_read=-1), "own_rea"),
        (lambda: Recorder({}, 0), "line = 0"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    causal = TiledAttention(**GOOD, causal=True)
    with pytest.raises(ValueError, match="form no waves"):
        causal.reads(at_once=2, capacity=100)
    half = np.zeros((4, 64, 128), np.float16)
    with pytest.raises(ValueError, match=r"k is \(4, 64, 128\): the plan says"):
        attend(plan, half, half, half, at_once=2)
    kv = np.zeros((2, 64, 128))
    with pytest.raises(ValueError, match="k is of float64: the plan says floats of 2"):
        attend(plan, half, kv, kv, at_once=2)
