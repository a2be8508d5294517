"""Drawing in tiles: the distribution, the bytes, the seconds; and noise by counter."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import gpu
from stacklib.gpu import tiles as tl
from stacklib.kernels.rows import sampling
from stacklib.kernels.rows import sampling_time as model
from stacklib.kernels.rows.flash_sampling import (
    draw_in_tiles,
    flash_sampling,
    sample_by_passes,
)
from stacklib.kernels.rows.noise import gumbel, philox, uniform
from stacklib.quantity import Quantity
from stacklib.tinylm.sampling import Sampling

US = 1e-6


def p_value(counts, p):
    """That a chi-square as large comes by chance (Wilson and Hilferty, 1931).

    Tokens of which fewer than five are expected are one class: the sum of many such
    would be no chi-square.
    """
    expected = counts.sum() * p
    rare = expected < 5
    seen, told = counts[~rare], expected[~rare]
    if rare.any():
        seen = np.append(seen, counts[rare].sum())
        told = np.append(told, expected[rare].sum())
    chi, free = ((seen - told) ** 2 / told).sum(), len(told) - 1
    z = ((chi / free) ** (1 / 3) - 1 + 2 / (9 * free)) / math.sqrt(2 / (9 * free))
    return 0.5 * math.erfc(z / math.sqrt(2))


def softmax(scores):
    p = np.exp(scores - scores.max())
    return p / p.sum()


def test_philox_is_tritons():
    def words(seed, out, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        a, b, c, d = tl.randint4x(seed, at * 16777259)
        tl.store(out + 4 * at, a)
        tl.store(out + 4 * at + 1, b)
        tl.store(out + 4 * at + 2, c)
        tl.store(out + 4 * at + 3, d)

    for seed in (0, 123_456_789):
        out = gpu.empty((64, 4), np.uint32)
        ran = gpu.launch_tiles(words, 1, seed, out, BLOCK=64)
        ours = philox(seed, np.arange(64) * 16777259)
        assert (ran.results["out"] == np.stack(ours, 1)).all()
    # D. E. Shaw Research, Random123's known answers for philox4x32-10.
    words = [int(w) for w in philox(0, 0, 0, 0, 0)]
    assert words == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    most = 2**32 - 1
    words = [int(w) for w in philox(2**64 - 1, most, most, most, most)]
    for wrong in (most + 1, np.int64([3, -1])):
        with pytest.raises(ValueError, match=r"up to 2\^32"):
            philox(1, wrong)
    assert words == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_noise_is_gumbels():
    noise = gumbel(3, np.arange(200_000))
    assert noise.mean() == pytest.approx(0.5772, abs=0.01)
    assert noise.var() == pytest.approx(math.pi**2 / 6, rel=0.02)
    u = uniform(3, np.arange(10_000))
    assert 0 < u.min() and u.max() < 1


@settings(deadline=None, max_examples=30)
@given(
    batch=st.integers(1, 5),
    width=st.integers(1, 9),
    vocab=st.integers(1, 200),
    tile=st.integers(1, 220),
    seed=st.integers(0, 2**64 - 1),
)
def test_any_tiling_draws_the_same_and_moves_what_the_formula_says(
    batch, width, vocab, tile, seed
):
    rng = np.random.default_rng(seed)
    hidden = rng.integers(-4, 5, (batch, width)).astype(np.float32)
    weights = rng.integers(-4, 5, (vocab, width)).astype(np.float32)
    got = draw_in_tiles(hidden, weights, 1.5, seed, tile=tile)
    whole = draw_in_tiles(hidden, weights, 1.5, seed, tile=vocab)
    assert (got.tokens == whole.tokens).all()
    sizes = {"batch": batch, "hidden": width, "vocab": vocab, "width": 4}
    assert got.crossed.bytes == model.flash_bytes(**sizes, tile=tile)
    _, moved = model.run_head(**sizes, tile=tile, units=4, bandwidth=1e9, unit_rate=1e9)
    assert moved == got.crossed.bytes
    plain = sample_by_passes(hidden, weights, 1.5, seed)
    assert plain.crossed.bytes == 4 * (vocab + batch) * width + batch * (16 * vocab + 4)
    assert (plain.crossed.launches, got.crossed.launches) == (3, 2)
    greedy = (hidden @ weights.T).argmax(-1)
    assert (draw_in_tiles(hidden, weights, 0, seed, tile=tile).tokens == greedy).all()
    assert (sample_by_passes(hidden, weights, 0, seed).tokens == greedy).all()


@pytest.mark.parametrize("draw", [draw_in_tiles, sample_by_passes])
def test_draws_are_the_softmax_on_twenty_seeds(draw):
    rng = np.random.default_rng(7)
    weights = rng.standard_normal((40, 8))
    one = rng.standard_normal(8)
    p = softmax(weights @ one / 0.8)
    many = np.repeat(one[None], 2500, 0)
    values = [
        p_value(np.bincount(draw(many, weights, 0.8, seed).tokens, minlength=40), p)
        for seed in range(20)
    ]
    assert min(values) > 0.01, values


def test_one_row_gives_one_token_and_many_give_an_array():
    hidden, weights = np.ones((3, 2)), np.arange(10.0).reshape(5, 2)
    tokens = flash_sampling(hidden, weights, 1.0, 4)
    assert tokens.shape == (3,) and tokens.dtype.kind == "i"
    assert flash_sampling(hidden[0], weights, 1.0, 4) == tokens[0]
    assert isinstance(flash_sampling(hidden[0], weights, 1.0, 4), int)


def test_seeds_are_streams_of_their_own():
    # One row, a seed a draw: as a server does it.
    rng = np.random.default_rng(3)
    weights, one = rng.standard_normal((12, 4)), rng.standard_normal(4)
    tokens = [flash_sampling(one, weights, 1.0, seed) for seed in range(2000)]
    counts = np.bincount(tokens, minlength=12)
    assert p_value(counts, softmax(weights @ one)) > 0.01


def test_tiles_that_share_one_noise_are_found_by_chi_square():
    # The planted fault: every tile counts its tokens from zero.
    rng = np.random.default_rng(7)
    scores = rng.standard_normal(40)
    local, rows = np.arange(40) % 10, np.arange(2500)[:, None]
    tokens = (scores + gumbel(0, local, rows)).argmax(-1)
    assert p_value(np.bincount(tokens, minlength=40), softmax(scores)) < 1e-6


def test_the_published_bytes_and_times():
    sizes = {"batch": 1, "hidden": 4096, "vocab": 150_000}
    assert 150_000 * 4 == 600e3
    assert 4096 * 150_000 * 2 == pytest.approx(1.23e9, rel=0.002)
    rate = {"bandwidth": 8e12, "launch_s": 5 * US}
    plain = model.plain_time(**sizes, **rate)
    fused = model.flash_time(**sizes, **rate)
    assert plain.head == pytest.approx(154 * US, rel=0.005)
    assert plain.passes == pytest.approx(0.3 * US)
    # By bytes and launches alone there is next to nothing to gain.
    assert plain.total / fused.total == pytest.approx(1.03, abs=0.005)
    chain = model.gain_chain(1.84, plain, fused)
    assert chain == pytest.approx(132 * US, rel=0.01)
    slow = model.plain_time(**sizes, **rate, chain_s=chain)
    assert slow.total / fused.total == pytest.approx(1.84)


def test_published_times_on_ranks_are_head_by_ranks_and_a_constant():
    # Batch 16 on B200s: one share of the bandwidth, one constant, one gather.
    head = 8192 * 128_256 * 2 / (0.875 * 7.7e12)
    gains = {}
    for (batch, ranks), (multinomial, _, fused) in model.PUBLISHED.items():
        if batch != 16:
            continue
        told = head / ranks + 22 * US + (26 * US if ranks > 1 else 0.0)
        assert fused * US == pytest.approx(told, rel=0.01)
        gains[ranks] = multinomial / fused
    # 1.84 over multinomial sampling lies between two ranks and four.
    assert gains[1] == pytest.approx(1.38, abs=0.01)
    assert gains[2] < 1.84 < gains[4]


def test_sampling_is_a_fifth_to_two_fifths_of_a_step_only_on_ranks():
    # An 8-billion-parameter model in bf16, a chain of 150 us as published times have.
    head = {"batch": 16, "hidden": 4096, "vocab": 151_936, "bandwidth": 6.8e12}
    head |= {"launch_s": 5 * US, "link": 900e9}

    def share(ranks):
        more = {"ranks": ranks, "latency_s": 40 * US, "chain_s": 140 * US}
        return model.step_share(model.plain_time(**head, **more), 16e9 / ranks / 6.8e12)

    assert share(1) < 0.10
    assert 0.20 < share(4) < 0.38 and share(8) > 0.30
    fused = model.flash_time(**head, ranks=8, latency_s=20 * US)
    assert model.step_share(fused, 16e9 / 8 / 6.8e12) < 0.12


@settings(deadline=None, max_examples=40)
@given(tiles=st.integers(1, 60), units=st.integers(1, 12), share=st.floats(1, 4))
def test_tiles_on_units_take_the_closed_form_and_at_most_a_tile_more(
    tiles, units, share
):
    sizes = {"batch": 2, "hidden": 64, "vocab": 32 * tiles, "tile": 32}
    rate = 1e9
    seconds, moved = model.run_head(
        **sizes, units=units, bandwidth=rate, unit_rate=share * rate / units
    )
    served = moved - tiles * 16 - 8  # winners read again, and tokens: a second kernel
    least = served / rate
    one = (32 * 64 * 2 + 16 + 256) / (share * rate / units)
    assert least * (1 - 1e-9) <= seconds <= least + one


@pytest.mark.rows(
    ("args", "words"),
    [
        ((np.ones((2, 3)), np.ones((5, 4)), 1.0, 0), r"\(2, 3\), weights \(5, 4\)"),
        ((np.ones((0, 3)), np.ones((5, 3)), 1.0, 0), "empty"),
        ((np.full((1, 3), np.nan), np.ones((5, 3)), 1.0, 0), "NaN"),
        ((np.ones((1, 3)), np.full((5, 3), np.nan), 1.0, 0), "NaN"),
        ((np.ones((1, 3)), np.full((5, 3), np.inf), np.float32(1), 0), "infinity"),
        ((np.ones(3), np.ones((5, 3)), -1.0, 0), "temperature = -1.0"),
        ((np.ones(3), np.ones((5, 3)), 1.0, -1), "seed = -1"),
    ],
)
def test_bad_input_is_named(args, words):
    for draw in (flash_sampling, draw_in_tiles, sample_by_passes):
        with pytest.raises(ValueError, match=words):
            draw(*args)


def test_a_tile_of_nothing_is_refused():
    with pytest.raises(ValueError, match="tile = 0"):
        flash_sampling(np.ones(3), np.ones((5, 3)), 1.0, 0, tile=0)


def test_floats_quantities_and_arrays_give_the_same():
    sizes = {"hidden": 4096, "vocab": 150_000, "ranks": 4}
    rate = {"bandwidth": 8e12, "launch_s": 5e-6, "link": 450e9, "latency_s": 2e-5}
    plain = model.plain_time(batch=16, **sizes, **rate)
    swept = model.plain_time(batch=np.array([1.0, 16.0]), **sizes, **rate)
    assert swept.total[1] == pytest.approx(plain.total)
    traced = model.plain_time(
        batch=16,
        **sizes,
        width=Quantity(2, "B"),
        logit=Quantity(4, "B"),
        bandwidth=Quantity(8, "TB/s"),
        launch_s=Quantity(5, "µs"),
        link=Quantity(450, "GB/s"),
        latency_s=Quantity(20, "µs"),
        chain_s=Quantity(0, "µs"),
    )
    assert traced.total.si == pytest.approx(plain.total)
    assert traced.head.si == pytest.approx(plain.head)
    fused = model.flash_bytes(
        batch=np.array([1, 2]), hidden=64, vocab=1000, tile=300, width=2
    )
    assert fused.tolist() == [
        model.flash_bytes(batch=b, hidden=64, vocab=1000, tile=300) for b in (1, 2)
    ]


@pytest.mark.parametrize("temperature", [1e-30, 1e-269, 1e-308, 5e-324])
def test_the_coldest_temperature_is_that_of_the_largest_logit(temperature):
    """Divided by less than 1e-308, all logits above one were infinite, and equal."""
    rng = np.random.default_rng(2)
    hidden, head = (rng.normal(size=s).astype(np.float32) for s in ((4, 9), (70, 9)))
    logits = hidden @ head.T
    wanted = logits.argmax(1)
    assert (flash_sampling(hidden, head, temperature, 1, tile=32) == wanted).all()
    assert (sample_by_passes(hidden, head, temperature, 1).tokens == wanted).all()
    for sample in (sampling.sample_in_passes, sampling.sample_fused):
        for row, token in zip(logits, wanted, strict=True):
            assert sample(row, Sampling(temperature), 0.5).token == token


@pytest.mark.parametrize("kind", [np.float16, np.int8])
def test_logits_do_not_run_over_in_the_weights_own_format(kind):
    """In half they were infinite from 65,504 on, of int8 modulo 256."""
    rng = np.random.default_rng(3)
    hidden, head = (rng.integers(-99, 99, (n, 40)).astype(kind) for n in (3, 50))
    best = (hidden.astype(float) @ head.T.astype(float)).argmax(-1)
    assert (flash_sampling(hidden, head, 0, 1) == best).all()
    assert (sample_by_passes(hidden, head, 0, 1).tokens == best).all()
    with pytest.raises(ValueError, match=r"seed = 1\.5"):
        flash_sampling(hidden, head, 1, 1.5)
