"""FP8 training, quantization-aware training and QLoRA: mechanism, and what was stored.

The full runs are stored; here they are a few steps of a decoder of 16,000 numbers.
"""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from stacklib.quantizers import Format, dequantize, quantize
from stacklib.tinylm import load, qlora_torch, record
from stacklib.tinylm.corpus import Document
from stacklib.tinylm.low_precision import fp8_training_torch as ft
from stacklib.tinylm.low_precision import qat_torch
from stacklib.tinylm.low_precision import runs as lp
from stacklib.tinylm.model_torch import Decoder
from stacklib.tinylm.perplexity import bits_per_byte, score
from stacklib.tinylm.train_torch import text_loss

from ..rows import refusals


@pytest.fixture(autouse=True)
def one_thread():
    """Sums of one order, and no more than one core."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def batches_of(steps: int, seed: int = 0) -> list[torch.Tensor]:
    """Ids that a model of any size learns quickly: a cycle of 32, from anywhere."""
    random = np.random.default_rng(seed)
    starts = random.integers(32, size=(steps, 4, 1))
    return list(torch.from_numpy((starts + np.arange(17)) % 32 * 7))


@pytest.fixture
def short_run(small_config):
    """The function that trains a small decoder in a precision; gives its record."""

    config = replace(small_config, vocab_size=256, num_hidden_layers=1)

    def run(name: str, steps: int = 24, **more):
        batches = batches_of(steps)
        return ft.train_short(
            ft.RUNS[name], batches, batches[0], config=config, every=8, **more
        )

    return run


# -- FP8


@pytest.mark.rows("name", ft.TYPES)
def test_torch_rounds_as_the_room_does(name):
    form, random = Format(name), np.random.default_rng(0)
    sizes = 2.0 ** random.uniform(-30, 20, 20_000)
    x = (sizes * random.choice([-1, 1], 20_000)).astype("f4")
    x = np.concatenate([x, form.decode(np.arange(1 << min(form.bits, 8)))])
    x = x[np.isfinite(x)]
    if name in ft.EIGHT:  # what is too large is clipped, e5m2's infinity included
        x = x.clip(-form.largest, form.largest)
    ours = ft.rounded(torch.from_numpy(x), name).numpy()
    with np.errstate(over="ignore"):
        assert np.array_equal(ours, form.decode(form.encode(x)))
    top = ft.rounded(torch.tensor([form.largest * 16, -form.largest * 16]), name)
    expected = form.largest if name in ft.EIGHT else torch.inf
    assert name == "bf16" or top.tolist() == [expected, -expected]


def test_an_emulated_decoder_in_fp32_is_the_decoder(small_config):
    """Same loss and same gradients, to the bit."""
    ids = batches_of(1)[0]
    found = []
    for build in (Decoder, lambda c: ft.Emulated(c, ft.Precision())):
        torch.manual_seed(0)
        model = build(small_config)
        loss = text_loss(model(ids[:, :-1]), ids)
        loss.backward()
        found.append([loss, *(p.grad for p in model.parameters())])
    assert len(found[0]) == len(found[1])
    assert all(
        torch.allclose(a, b, rtol=1e-4, atol=1e-8) for a, b in zip(*found, strict=True)
    )


def test_a_product_rounds_what_comes_back_too():
    """By hand: y = q(x) q(w), dx = r(g) q(w), dw = r(g) q(x)."""
    tally = ft.Tally()
    ways = tuple(ft.Rounding(f, "none", tally) for f in ("e4m3fn", "e4m3fn", "e5m2"))
    x = torch.tensor([[0.3, -1.7]], requires_grad=True)
    w = torch.tensor([[1.1, 0.4], [0.05, 900.0]], requires_grad=True)
    g = torch.tensor([[0.3, 1e-9]])
    y = ft._Product.apply(x, w, ways)
    y.backward(g)
    e4, e5 = Format("e4m3fn"), Format("e5m2")

    def kept(form, numbers):
        clipped = numbers.detach().numpy().clip(-form.largest, form.largest)
        return torch.from_numpy(form.decode(form.encode(clipped)))

    qx, qw, rg = kept(e4, x), kept(e4, w), kept(e5, g)
    assert torch.equal(y, qx @ qw.T)
    assert torch.equal(x.grad, rg @ qw) and torch.equal(w.grad, rg.T @ qx)
    assert rg[0, 1] == 0 and qw[1, 1] == 448
    assert (tally.numbers, tally.zeroed, tally.clipped) == (8, 1, 1)


def test_a_delayed_scale_knows_the_last_sixteen_maxima_only():
    way = ft.Rounding("e4m3fn", "delayed", ft.Tally())
    sizes = [100.0, *[1.0] * 20]
    scales = [way.scale(torch.tensor([0.5, -size])) for size in sizes]
    assert scales[0] == 1.0  # nothing is known yet
    assert scales[1:17] == [4.48] * 16 and scales[17] == 448.0
    now = ft.Rounding("e4m3fn", "current", ft.Tally())
    assert now.scale(torch.tensor([-56.0])) == 8.0
    assert now.scale(torch.zeros(3)) == 1.0


def test_a_jump_is_clipped_by_a_delayed_scale_and_not_by_a_current_one():
    clipped = {}
    for scaling in ("current", "delayed"):
        way = ft.Rounding("e4m3fn", scaling, ft.Tally())
        for size in (1.0, 1.0, 8.0):
            found = way(torch.tensor([size]))
        clipped[scaling] = (float(found), way.tally.clipped)
    assert clipped == {"current": (8.0, 0), "delayed": (1.0, 1)}


def dead(run: dict) -> bool:
    """Whether the gradients of the blocks' matrices were lost."""
    return run["backward"]["zeroed"] > 0.5


def test_fp16_and_fp8_die_by_a_mean_over_many_and_scales_keep_them(short_run):
    ways = [name for name in ft.RUNS if name != "fp8_none_scaled"]
    found = {name: short_run(name, steps=12) for name in ways}
    assert [name for name, run in found.items() if dead(run)] == ["fp16", "fp8_none"]
    best = found["fp32"]["loss"][-1]
    assert found["fp32"]["loss"][0] > 1.2 * best
    for name in ("bf16", "fp16_scaled", "fp8_delayed", "fp8_current"):
        assert found[name]["loss"][-1] < 1.3 * best, name
        assert found[name]["skipped"] == 0


def test_a_rounding_left_out_of_the_way_back_is_found(short_run, monkeypatch):
    plain = ft._Product.backward

    def unrounded(ctx, gradient):
        ctx.way = lambda g: g
        return plain(ctx, gradient)

    monkeypatch.setattr(ft._Product, "backward", staticmethod(unrounded))
    assert not dead(short_run("fp16", steps=8))


def test_too_large_a_loss_scale_skips_and_comes_down(short_run, monkeypatch):
    monkeypatch.setattr(ft, "FIRST_SCALE", 2.0**60)
    run = short_run("fp16_scaled")
    assert 0 < run["skipped"] < 1 and run["scale"] < 2.0**60


def test_the_distance_to_a_reference_is_relative(short_run):
    first = short_run("fp32", steps=8)
    again = short_run("fp32", steps=8, reference=first["weights"])
    other = short_run("bf16", steps=8, reference=first["weights"])
    assert again["distance"] == [0.0]
    by_hand = (other["weights"][0] - first["weights"][0]).norm()
    assert other["distance"][0] == pytest.approx(
        float(by_hand / first["weights"][0].norm())
    )
    assert 0 < other["distance"][0] < 0.2


test_a_precision_that_is_none_is_named = refusals(
    ({"forward": "fp4"}, "unknown training format"),
    ({"scaling": "late"}, "scaling = 'late'"),
    ({"loss_scale": 0.0}, "loss_scale = 0.0"),
    ({"loss_scale": float("nan")}, "loss_scale = nan"),
    ({"loss_scale": "auto"}, "loss_scale = 'auto'"),
    by=lambda call: ft.Precision(**call),
    error=(ValueError, LookupError),
)


def test_a_run_needs_batches_and_a_mean_over_them(small_config):
    for batches, over in ([], 100), (batches_of(1), 3):
        with pytest.raises(ValueError, match=f"mean_over = {over}"):
            ft.train_short(
                ft.Precision(),
                batches,
                batches_of(1)[0],
                mean_over=over,
                config=small_config,
            )


# -- quantization-aware training


def test_a_straight_through_gradient_is_passed_as_it_is():
    x = torch.tensor([0.2, 0.7, -1.4], requires_grad=True)
    y = qat_torch.straight_through(x, torch.round)
    (y * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert y.tolist() == [0.0, 1.0, -1.0] and x.grad.tolist() == [1.0, 2.0, 3.0]
    plain = torch.tensor([0.2, 0.7], requires_grad=True)
    torch.round(plain).sum().backward()
    assert not plain.grad.any()  # what the estimator is for
    with pytest.raises(ValueError, match=r"gave \(1,\) for \(3,\)"):
        qat_torch.straight_through(x, lambda w: w[:1])


@pytest.mark.rows("bits", [2, 3, 4, 8])
def test_levels_are_a_row_of_a_symmetric_grid_and_no_worse_than_unclipped(bits):
    torch.manual_seed(0)
    weights = torch.randn(12, 64) * torch.logspace(-3, 1, 12)[:, None]
    found, top = qat_torch.levels(weights, bits), 2 ** (bits - 1) - 1
    for row in found:
        assert len(row.unique()) <= 2 * top + 1
        step = row[row != 0].abs().min()
        assert bits == 8 or torch.allclose((row / step).round() * step, row)
    ends = weights.abs().amax(1, keepdim=True) / top
    plain = (weights / ends).round() * ends
    error, least = ((x - weights).square().sum(1) for x in (plain, found))
    assert (least <= error * (1 + 1e-6)).all()
    assert bits == 8 or (least < 0.99 * error).any()
    assert not qat_torch.levels(torch.zeros(2, 4), bits).any()


def test_levels_refuses_what_has_no_grid():
    for bits in (1, 9, 4.0, True):
        with pytest.raises(ValueError, match=f"bits = {bits!r}"):
            qat_torch.levels(torch.ones(1, 2), bits)
    with pytest.raises(ValueError, match="not finite"):
        qat_torch.levels(torch.tensor([[torch.nan, 1.0]]), 4)


TEXT = "".join(f"The {word} returns a list.\n" for word in "abcdefgh") * 3
TEXTS = [Document("a", TEXT), Document("b", TEXT[50:])]


def test_training_that_sees_two_bits_beats_rounding_once():
    model = load("draft")
    ids = [model.tokenizer.end, *model.tokenizer.encode(TEXT)]
    batches = [torch.tensor([ids[:97]])] * 12
    found, end = qat_torch.qat(model, batches, TEXTS, bits=2, every=12)
    first, last = found["bits_per_byte"]
    assert found["step"] == [0, 12] and last < 0.7 * first
    assert found["less"][2] < 0 and found["less"][0] == pytest.approx(last - first)
    name = "model.layers.0.mlp.up_proj.weight"
    assert all(len(np.unique(row)) <= 3 for row in end.weights[name])
    # its first point is quantization after training
    once = score(qat_torch.ptq(model, 2), TEXTS, model.tokenizer)
    assert first == bits_per_byte(once).value


def test_a_rounding_without_the_estimator_learns_nothing(monkeypatch):
    """Planted: the derivative of a step function, zero, in place of the identity."""
    model = load("draft")
    aware = qat_torch.Aware(model.config, 2)
    aware.assign(model.weights)
    key = "model/layers/0/mlp/up_proj/weight"
    ids = torch.arange(20)[None]

    def gradient() -> float:
        aware.zero_grad()
        text_loss(aware(ids[:, :-1]), ids).backward()
        found = aware.weights[key].grad
        return 0.0 if found is None else float(found.abs().max())

    assert gradient() > 0
    monkeypatch.setattr(qat_torch, "straight_through", lambda x, q: q(x.detach()))
    assert gradient() == 0


def test_weights_assigned_are_kept_unrounded():
    model = load("draft")
    aware = qat_torch.Aware(model.config, 4)
    aware.assign(model.weights)
    name = "model.layers.1.self_attn.q_proj.weight"
    inside = aware.weights[name.replace(".", "/")].detach().numpy()
    assert np.array_equal(inside, model.weights[name])
    assert not np.array_equal(aware.named()[name].numpy(), model.weights[name])
    with pytest.raises(ValueError, match="no batches"):
        qat_torch.qat(model, [], TEXTS, bits=4)
    with pytest.raises(ValueError, match="rate = 0"):
        qat_torch.qat(model, batches_of(1), TEXTS, bits=4, rate=0.0)


# -- QLoRA


@pytest.fixture
def adapted(small_config, build):
    """A small decoder in NF4 whose adapters are not zero any more."""
    base = build(replace(small_config, vocab_size=256, hidden_size=64))
    model = qlora_torch.Adapted(base.config, base.weights, rank=4)
    with torch.no_grad():
        for each in model.adapters.values():
            each.normal_(std=0.3, generator=torch.Generator().manual_seed(len(each)))
    return model


def adapters_agree(adapted) -> bool:
    """Whether the adapters' gradients follow from those of one merged matrix.

    With W = NF4 + s U D: dL/dU = s G D', dL/dD = s U' G, G = dL/dW of plain autograd.
    """
    ids = batches_of(1)[0]
    merged = Decoder(adapted.config)
    merged.assign(adapted.named())
    losses = []
    for model in (merged, adapted):
        model.zero_grad()
        losses.append(text_loss(model(ids[:, :-1]), ids))
        losses[-1].backward()
    assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-5)
    for name in adapted.packed:
        key = name.replace(".", "/")
        down, up = (adapted.adapters[f"{key}/{each}"] for each in ("down", "up"))
        s, full = qlora_torch.ALPHA / len(down), merged.weights[key].grad
        for found, wanted in (
            (up.grad, s * full @ down.T),
            (down.grad, s * up.T @ full),
        ):
            if (found - wanted).abs().max() > 1e-3 * wanted.abs().max():
                return False
    return True


def test_gradients_of_adapters_are_those_of_the_merged_matrix(adapted):
    assert adapters_agree(adapted)


def test_a_frozen_matrix_that_stops_the_gradient_is_found(adapted, monkeypatch):
    def stops(ctx, gradient):
        return torch.zeros_like(gradient @ ctx.packed.expand()), None

    monkeypatch.setattr(qlora_torch._Frozen, "backward", staticmethod(stops))
    assert not adapters_agree(adapted)


def test_a_packed_matrix_is_the_rooms_nf4(adapted):
    weight = torch.randn(48, 64, generator=torch.Generator().manual_seed(0))
    packed = qlora_torch.Packed(weight)
    expected = dequantize(quantize(weight.numpy(), "nf4_dq"))
    assert np.array_equal(packed.expand().numpy(), expected)
    assert 8 * len(packed.bytes) / weight.numel() == pytest.approx(4.13, abs=0.05)
    error = float((packed.expand() - weight).norm() / weight.norm())
    assert 0.05 < error < 0.12
    with pytest.raises(TypeError, match="the base is frozen"):
        adapted.assign({})


DOCUMENTS = [Document(f"d{at}", TEXT[at:] + TEXT) for at in range(16)]


def test_qlora_lowers_the_loss_and_holds_the_bytes_of_its_sheet():
    run = qlora_torch.qlora("draft", 8, 4, documents=DOCUMENTS, batch=2, tokens=64)
    told = run.told()
    assert told["less"][2] < 0 and run.losses[-1] < run.losses[0]
    base, before, after = (v[0] for v in told["bits_per_byte"].values())
    assert after < base and abs(before - base) < 0.1
    measured, sheet = run.measured, told["sheet"]
    for name in ("kept", "adapters", "gradients", "optimizer", "checkpoints"):
        assert measured[name] == sheet[name], name
    # a matrix has a mean of its scales, and its last group of 256 may not be full
    extra = measured["base"] - sheet["base"]
    assert 0 < extra <= 8 * 7 * load("draft").config.num_hidden_layers
    # Besides, this processor's attention keeps keys and values repeated for each query
    # head and a sum per row, a norm one number per token and its gains as fp32.
    c = load("draft").config
    repeated = 2 * (c.num_attention_heads - c.num_key_value_heads) * c.head_dim
    more = 2 * 64 * (repeated + c.num_attention_heads + 2) + 2 * c.hidden_size
    assert measured["block"] == sheet["block"] + 4 * more
    # what was frozen is as it was, and what is merged is not
    draft = load("draft")
    name = "model.layers.0.mlp.up_proj.weight"
    plain = qlora_torch.Packed(torch.from_numpy(draft.weights[name])).expand().numpy()
    moved = np.linalg.norm(run.model.weights[name] - plain) / np.linalg.norm(plain)
    assert 0 < moved < 0.5
    gains = "model.norm.weight"
    assert np.array_equal(run.model.weights[gains], draft.weights[gains])


test_a_qlora_that_cannot_be_is_named = refusals(
    ({"steps": 0}, "steps = 0"),
    ({"rank": 1.5}, "rank = 1.5"),
    ({"seed": -1}, "seed = -1"),
    ({"rate": float("nan")}, "rate = nan"),
    ({"documents": DOCUMENTS[:15]}, "15 documents"),
    by=lambda call: qlora_torch.qlora(
        "draft", **{"steps": 1, "documents": DOCUMENTS} | call
    ),
)


# -- what was stored


def test_the_stored_runs_are_those_of_the_script_as_it_stands():
    path = Path(__file__).parents[2] / "benchmarks" / "train_formats.py"
    script = runpy.run_path(str(path))
    stored = {name: lp.curves(name)["settings"] for name in ("fp8", "qat", "qlora")}
    assert stored["fp8"] == script["FP8"] | {"mean_over": lp.MEAN_OVER}
    widths = {name: list(way) for name, way in script["WIDTHS"].items()}
    assert stored["qat"] == script["QAT"] | {"widths": widths}
    assert stored["qlora"] == script["QLORA"]


def test_the_stored_runs_read_the_corpus_of_the_models():
    digest = record.training("draft")["corpus"]
    assert lp.curves("fp8")["corpus"] == lp.curves("qat")["corpus"] == digest
    assert lp.curves("fp8")["settings"]["mean_over"] == lp.MEAN_OVER
    seconds = sum(lp.curves(name)["seconds"] for name in ("fp8", "qat", "qlora"))
    assert seconds < 600
    assert all(lp.curves(name)["threads"] == 1 for name in ("fp8", "qat", "qlora"))


def test_stored_fp8_with_a_scale_learns_as_bf16_does_and_without_one_does_not():
    assert set(lp.curves("fp8")["runs"]) == set(ft.RUNS)
    ends = {name: lp.behind(name)[-1] for name in ft.RUNS}
    for name, (step, mean, low, high) in ends.items():
        assert step == 200
        if name in ("fp16", "fp8_none"):
            assert low > 0.5, name
        else:
            assert low <= 0 <= high and abs(mean) < 0.03, name
    away = {n: r["seeds"][0]["distance"] for n, r in lp.curves("fp8")["runs"].items()}
    for name in ("bf16", "fp8_current", "fp8_delayed"):
        assert away[name][-1] > away[name][0] > 0  # error accumulates
    assert away["bf16"][-1] < away["fp8_current"][-1]


def test_stored_training_that_sees_its_rounding_beats_rounding_once():
    found = lp.curves("qat")
    for name in ("int4", "int2"):
        for seed in found["runs"][name]["seeds"]:
            assert seed["less"][2] < 0
            assert seed["bits_per_byte"][0] == found["ptq"][name]["bits_per_byte"][0]
    # more steps without the rounding are worth less than the rounding seen
    for at, control in enumerate(found["runs"]["control"]["seeds"]):
        for name in ("int4", "int2"):
            seen = found["runs"][name]["seeds"][at]["bits_per_byte"][-1]
            assert seen < control["then"][name]


def test_the_stored_qlora_lowers_the_loss_of_every_seed():
    found = lp.curves("qlora")
    settings = dict(found["settings"])
    for seed in found["seeds"]:
        assert seed["less"][2] < 0
        wide = lp.qlora_memory(
            load(settings["model"]).architecture,
            rank=settings["rank"],
            batch=settings["batch"],
            context=settings["tokens"],
            dtype="fp32",
        )
        assert seed["sheet"]["block"] == wide.block.si
        assert seed["measured"]["adapters"] == wide.adapters.si
