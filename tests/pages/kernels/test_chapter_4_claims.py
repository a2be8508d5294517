"""The claims of chapter 4: what each stands on, held to an oracle."""

import math

import numpy as np
import pytest

from stacklib import hardware, models
from stacklib.evidence import measurements
from stacklib.kernels.launch.launches import cost
from stacklib.pages.kernels.attention import claims as attention
from stacklib.pages.kernels.choose import claims as choose
from stacklib.pages.kernels.experts import claims as experts
from stacklib.pages.kernels.feed import claims as feed
from stacklib.pages.kernels.generations import claims as generations
from stacklib.pages.kernels.launches import claims as launches
from stacklib.pages.kernels.mla import claims as mla
from stacklib.pages.kernels.norms import claims as norms
from stacklib.pages.kernels.sampling import claims as sampling
from stacklib.pages.kernels.scaled import claims as scaled

# -- attention -----------------------------------------------------------------------


def test_bytes_of_tiles_are_those_of_two_loops():
    n, d, rows_, columns = 1024, 128, 128, 64
    asked = sum(
        2 * columns * d * 2 for _ in range(n // rows_) for _ in range(n // columns)
    )
    assert attention.count(n, d, rows_, columns).kv == asked
    assert attention.times_asked(n, rows_) == n / rows_
    outer = sum(n * d * 2 for _ in range(n // columns))
    assert attention.tiles_outside(n, columns) == outer / (n * d * 2)


def test_the_exponents_are_slopes_of_the_counts():
    assert attention.exponent_of_head(8192) == pytest.approx(2, abs=0.05)
    lengths = np.array([4096, 8192, 16384, 32768])
    counts = [attention.count(int(n), 128, 128, 128).bytes for n in lengths]
    slope = np.polyfit(np.log(lengths), np.log(counts), 1)[0]
    assert attention.exponent_of_tokens(8192) == pytest.approx(slope, abs=0.02)
    quoted = 8192**2 * 128 * 2 / attention.CHIP.si
    assert quoted < 8192 * 128  # less than reading the queries once


def test_a_kernel_that_writes_its_scores_once_more_is_another_number(monkeypatch):
    before = attention.passes_of_matrix(2048)
    module = __import__(attention.io_count.__module__, fromlist=["MATRIX_PASSES"])
    monkeypatch.setattr(module, "MATRIX_PASSES", 5)
    assert (before, attention.passes_of_matrix(2048)) == (4, 5)


# -- speeds, bits, bytes -------------------------------------------------------------


def test_shares_of_peaks_are_plain_quotients():
    by_id = {row.id: row.value for row in measurements.public()}
    fp16, bf16 = (
        hardware.get("h100_sxm").peak("fp16"),
        hardware.get("b200_sxm").peak("bf16"),
    )
    told = generations.of_peak(generations.measured("B-0365"), "h100_sxm", "fp16")
    assert told.si == pytest.approx(by_id["B-0365"] * 1e12 / fp16.si)
    told = generations.of_peak(generations.measured("B-0364"), "b200_sxm", "bf16")
    assert told.si == pytest.approx(by_id["B-0364"] * 1e12 / bf16.si)
    assert generations.unit_rate("b200_sxm", "bf16").si == pytest.approx(4096, rel=0.01)


def test_the_mask_has_the_yield_bit_and_the_reuse_bit():
    assert feed.MASK == 1 << 59 | 1 << 45  # of the upper half of an instruction
    assert feed.bits(feed.MASK) == 2


def test_a_latent_is_as_small_as_its_columns():
    numbers = 2 * 128 * 128
    assert mla.original().si == numbers
    assert mla.shrinks().computed.si == pytest.approx(numbers / 576)
    assert mla.shrinks().then.si == pytest.approx(95 * 2048 * 16 / (60 * 576 * 6))


def test_a_graph_gains_what_a_launch_costs_over_a_node():
    for end in ("low", "high"):
        launch, node = cost("driver", end).si, cost("node", end).si
        assert launches.gain(end, end) == pytest.approx(launch / node, rel=0.01)


# -- drawing a token -----------------------------------------------------------------


def test_bytes_of_a_draw_are_those_of_its_arrays():
    assert sampling.logits_bytes() == np.zeros(sampling.VOCAB, np.float32).nbytes
    assert sampling.crossings() == 4 * sampling.logits_bytes()
    assert sampling.head_numbers() == sampling.VOCAB * sampling.HIDDEN


def test_noise_that_is_not_gumbel_fails_the_chi_square(monkeypatch):
    assert abs(sampling.chi_square(2) - 1) < 0.3
    sampling.chi_square.cache_clear()
    right = sampling.gumbel
    monkeypatch.setattr(sampling, "gumbel", lambda *a: 0.8 * right(*a))
    assert sampling.chi_square(2) > 2
    sampling.chi_square.cache_clear()


def test_sampling_weighs_more_on_more_gpus_and_smaller_models():
    shares = [sampling.share_of_step("qwen3-1.7b", ranks) for ranks in (1, 2, 4, 8)]
    assert shares == sorted(shares)
    assert sampling.share_of_step("llama-3-70b", 8) < shares[1]
    model = models.get("qwen3-1.7b")
    assert model.tied  # so the head is the embedding, which a step reads once


# -- norms, formats, experts ---------------------------------------------------------


def test_padded_lanes_add_the_square_of_the_mean():
    assert norms.variance(False) == pytest.approx(1 + (1024 - 768) / 768, rel=1e-4)
    assert norms.variance(True) == pytest.approx(1, rel=1e-4)


def test_a_masked_sample_would_be_right(monkeypatch):
    norms.run.cache_clear()
    run = norms.run_layernorm
    fixed = lambda *given, masked: run(*given, masked=True)  # noqa: E731
    monkeypatch.setattr(norms, "run_layernorm", fixed)
    assert norms.variance(False) == pytest.approx(1, rel=1e-4)
    norms.run.cache_clear()


def test_gains_are_of_the_posts_own_times():
    assert scaled.times_faster("forward").si == pytest.approx(25.96 / 9.45)
    assert scaled.combined().si == pytest.approx((25.96 + 59.17) / (9.45 + 17.04))


def test_experts_are_three_matrices_and_whole_tiles():
    found = experts.parameters().computed.si
    assert found == 3 * 7168 * 2048
    assert experts.remainders() == 0
    assert experts.padding(16384).si == 64 * 256 / (16384 * 8)


def test_pairs_are_of_one_shape_each():
    found = choose.pairs("FlashAttention-3")
    assert len(found) > 15 and found == sorted(found)
    by_id = {row.id: row.value for row in measurements.public()}
    assert any(math.isclose(x, by_id["B-0210"] / by_id["B-0208"]) for x in found)
    assert choose.ratio("FlashAttention-2") < 1 < choose.ratio("cuDNN")
