"""Three ways to count what tiles move: by formula, by recorded loads, by sectors."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stacklib.kernels.attention import twins, witnesses
from stacklib.kernels.attention.count import io_count
from stacklib.kernels.attention.exponent import (
    exponent_counted,
    kv_numbers,
    saving,
    tile_rows,
)
from stacklib.kernels.attention.naive import naive_attention
from stacklib.kernels.attention.recorded import record
from stacklib.kernels.attention.witnesses import Tiling, Witness
from stacklib.quantity import UnknownName, chosen

ORDERS = st.sampled_from(["fa1", "fa2"])
tile = st.integers(1, 40)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 50),
    st.integers(1, 20),
    *[tile] * 2,
    st.sampled_from([2, 4, 8]),
    st.booleans(),
    ORDERS,
)
def test_the_formula_is_what_a_recorded_run_touches(
    tokens, head_dim, tile_q, tile_k, width, causal, order
):
    rng = np.random.default_rng(tokens)
    q, k, v = rng.standard_normal((3, tokens, head_dim)).astype(f"f{width}")
    tiles = {"tile_q": tile_q, "tile_k": tile_k, "causal": causal, "order": order}
    run = record(q, k, v, **tiles)
    told = io_count(tokens=tokens, head_dim=head_dim, width=width, **tiles)
    assert run.read == {name: count for name, count in told.read.items() if count}
    assert run.written == told.written
    right = naive_attention(*(x[None, None] for x in (q, k, v)), causal=causal)[0, 0]
    loose = {2: 3e-2, 4: 1e-4, 8: 1e-5 if order == "fa1" else 1e-12}[width]
    assert np.allclose(run.out, right, rtol=loose, atol=loose)


@settings(max_examples=8, deadline=None)
@given(
    st.integers(1, 70),
    st.sampled_from([16, 32]),
    st.sampled_from([16, 32]),
    st.sampled_from([16, 32]),
    st.booleans(),
)
@example(33, 16, 16, 32, True)
@example(64, 32, 32, 16, False)
def test_all_witnesses_say_one_number(tokens, head_dim, tile_q, tile_k, causal):
    tiling = Tiling(tokens, head_dim, tile_q, tile_k, causal)
    found = witnesses.measured(tiling)
    assert [one.name for one in found] == [
        "recorded loads",
        "SIMT sectors",
        "tile sectors",
    ]
    assert witnesses.dissenting(tiling, found) == []


def test_sectors_of_queries_and_result_agree_too():
    q, k, v = np.random.default_rng(1).standard_normal((3, 50, 16), dtype=np.float32)
    told = io_count(tokens=50, head_dim=16, tile_q=32, tile_k=16, width=4, causal=True)
    for machine in (twins.by_threads, twins.by_tiles):
        _, moved = machine(q, k, v, tile_q=32, tile_k=16, causal=True)
        assert moved == told.read | {"out": told.written["o"]}


def test_a_witness_that_says_otherwise_is_named():
    tiling = Tiling(64, 16, 16, 16)
    told = witnesses.formula(tiling)
    once = Witness("the guide", told.k // 4, told.v // 4)  # reads K and V once
    cubin = Witness("cubin", told.k, told.v)
    assert witnesses.dissenting(tiling, [cubin, once]) == [
        "the guide: K 4,096 B, by formula 16,384 B",
        "the guide: V 4,096 B, by formula 16,384 B",
    ]
    assert told.kv == 4 * 2 * 64 * 16 * 4  # ceil(64 / 16) times K and V


def test_a_twin_that_computes_something_else_is_no_witness(monkeypatch):
    def wrong(q, k, v, **tiles):
        out, moved = twins.by_tiles(q, k, v, **tiles)
        return out + 1, moved

    monkeypatch.setattr(twins, "by_threads", wrong)
    with pytest.raises(ArithmeticError, match="SIMT sectors"):
        witnesses.measured(Tiling(16, 16, 16, 16))


def test_keys_and_values_are_read_once_for_each_tile_of_queries():
    for tokens, tile_q in ((4096, 128), (1000, 128), (1, 64)):
        count = io_count(tokens=tokens, head_dim=64, tile_q=tile_q, tile_k=96)
        assert count.kv == -(-tokens // tile_q) * 2 * tokens * 64 * 2
    outer = io_count(tokens=4096, head_dim=64, tile_q=128, tile_k=128, order="fa1")
    assert outer.kv == 2 * 4096 * 64 * 2 and outer.read["q"] == 32 * 4096 * 64 * 2


def test_flops_are_halved_for_causal_as_speeds_are_published():
    words = {"tokens": 4096, "head_dim": 128, "tile_q": 128, "tile_k": 128}
    full, causal = io_count(**words), io_count(**words, causal=True)
    assert full.flops == 4 * 4096**2 * 128 == full.flops_in_tiles == 2 * causal.flops
    # On the diagonal half of each tile is computed only to be masked.
    assert causal.flops_in_tiles == causal.flops * (1 + 128 / 4096)
    assert full.unfused == 2 * (4 * 4096 * 128 + 4 * 4096**2)
    assert full.matrix == 2 * 4096**2


def test_bytes_grow_with_the_square_of_head_dim():
    chip = 228 * 1024 // 2  # numbers of two bytes that an H100's unit holds
    for order in ("fa1", "fa2"):
        found = exponent_counted(tokens=2**17, head_dim=64, on_chip=chip, order=order)
        assert 1.95 < found < 2
    # The order that is short of one: tiles counted as M / 4 rows of any length.
    lost = [kv_numbers(2.0**17, d, chip / 4) for d in (64, 128)]
    right = [kv_numbers(2.0**17, d, tile_rows(d, chip)) for d in (64, 128)]
    assert lost[1] == 2 * lost[0] and right[1] == 4 * right[0]
    assert right[1] == 128 * lost[1]


def test_the_headline_of_seven_times_fewer_bytes_is_an_order_without_its_constants():
    chip = 228 * 1024 / 2
    assert saving(128, chip) == 7.125
    rows = int(tile_rows(128, chip))
    count = io_count(tokens=2**17, head_dim=128, tile_q=rows, tile_k=rows)
    assert count.saved == pytest.approx(7.125 / 2, rel=0.01)
    assert io_count(tokens=2**17, head_dim=128, tile_q=128, tile_k=128).saved < 2.01


def test_models_take_floats_quantities_and_arrays():
    for model in (tile_rows, saving):
        floats = [model(d, 116736.0) for d in (64.0, 128.0)]
        arrays = model(np.array([64.0, 128.0]), 116736.0)
        traced = model(chosen(64, label="d"), chosen(116736, label="M"))
        assert np.allclose(arrays, floats) and traced.si == pytest.approx(floats[0])
    assert kv_numbers(8.0, 2.0, np.array([1.0, 2.0])).tolist() == [256, 128]


def test_bad_sizes_are_named():
    words = {"tokens": 8, "head_dim": 8, "tile_q": 4, "tile_k": 4}
    with pytest.raises(ValueError, match="tile_q = 0"):
        io_count(**words | {"tile_q": 0})
    with pytest.raises(UnknownName, match="unknown order 'fa9'"):
        io_count(**words, order="fa9")
    with pytest.raises(ValueError, match="no row of each of 4 tiles of head_dim 256"):
        exponent_counted(tokens=8, head_dim=128, on_chip=600)
    with pytest.raises(ValueError, match="head_dim = 12: rows of 48 bytes"):
        Tiling(8, 12, 4, 4)
    with pytest.raises(ValueError, match="tokens = 0"):
        Tiling(0, 8, 4, 4)
