"""Stages as lists of layers: told in others' words, spread best, counted whole."""

import itertools
import warnings
from math import inf, isfinite

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib import hardware
from stacklib.hardware import UnknownSpec
from stacklib.interconnect.parallelism import split as splitting
from stacklib.interconnect.parallelism.layout import Layout, read_layout
from stacklib.interconnect.parallelism.memory import held, memory_of
from stacklib.interconnect.parallelism.plan import plan
from stacklib.interconnect.parallelism.rates import device_of
from stacklib.interconnect.parallelism.shape import shape_of
from stacklib.interconnect.parallelism.split import (
    grouped,
    ranks,
    read,
    spread,
    told,
    write,
)
from stacklib.interconnect.parallelism.step import step_time
from stacklib.interconnect.parallelism.waits import alone
from stacklib.interconnect.pipelines.order import FORWARD, pipeline
from stacklib.interconnect.selection.machine import fabric
from stacklib.quantity import UnknownName, quoted
from stacklib.roofline.work.fit import Infeasible

# As published: model, device, chips, batch, tokens, format, layout.
REFUSED_BEFORE = {
    "DeepSeek-V3 PP16 EP64": (
        *("deepseek-v3", "h800-sxm", 2048, 15360, 4096, "fp8"),
        "pp 16, ep 64, zero 1, dualpipe, recompute selective",
    ),
    "Llama-3.1-405B TP8 PP16": (
        *("llama-3.1-405b", "h100-sxm", 16384, 2048, 8192, "bf16"),
        "tp 8, pp 16, zero 1, recompute selective",
    ),
    "405B TP8 PP8 CP2 VP8": (
        *("llama-3.1-405b", "h100-sxm", 1024, 512, 8192, "bf16"),
        "tp 8, pp 8, cp 2, vp 8, zero 1",
    ),
    "Qwen3-235B PP8 VP3": (
        *("qwen3-235b-a22b", "h100-sxm", 256, 2048, 4096, "bf16"),
        "tp 2, pp 8, ep 8, vp 3, zero 1",
    ),
}


@pytest.mark.rows("name", REFUSED_BEFORE)
def test_published_layouts_that_do_not_divide_are_timed(name):
    model, on, chips, batch, length, dtype, words = REFUSED_BEFORE[name]
    layout = read_layout(words, chips)
    asked = {"on": on, "chips": chips, "batch": batch, "length": length}
    step = step_time(model, layout=layout, dtype=dtype, **asked)
    shape = shape_of(model, length)
    assert step.feasible and 0.2 < step.mfu < 0.65
    assert sum(step.split) == shape.layers
    assert len(step.split) == layout.pp * layout.interleave
    # The same by a split that is told, in Megatron-LM's own words.
    own = read_layout(words, chips, write(step.split))
    assert step_time(model, layout=own, dtype=dtype, **asked).time == step.time


def test_what_meta_and_nvidia_run_is_what_is_found():
    shape = shape_of("llama-3.1-405b", 8192)
    layers, steps = len(shape.pattern), (16,)
    found = spread(shape.pattern, 16, 1, steps, 11, 1)
    # "reduced one Transformer layer each from the first and the last stages"
    assert found == told(layers, 16, embedding=True, loss=True)
    pieces = told(layers, 8, 8, embedding=True, loss=True)
    assert spread(shape.pattern, 8, 8, steps, 11, 1) == pieces
    qwen = shape_of("qwen3-235b-a22b", 4096).pattern
    assert spread(qwen, 8, 3, steps, 8, 1) == told(94, 8, 3, embedding=True, loss=True)


@pytest.mark.rows(
    ("text", "parts"),
    [
        # what Megatron-LM's own file gives as examples
        ("Ettt|(tt|)*29,m|L", (3, *[2] * 29, 1, 0)),
        ("E|(t|)*3L", (0, 1, 1, 1, 0)),
        ("Et*4|(t*4|)*14tL", (*[4] * 15, 1)),
        ("EttL", (2,)),
    ],
)
def test_megatrons_words(text, parts):
    assert read(text) == parts
    assert read(write(parts)) == parts


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(0, 9))
def test_what_is_written_is_read(parts, later):
    later = min(later, sum(parts))
    text = write(parts, later)
    assert read(text) == tuple(parts)
    assert len(text) <= 3 + 12 * len(parts)
    if "*" not in text:
        assert text.count("m") == later


@pytest.mark.rows(
    ("asked", "parts"),
    [
        ((61, 8, 1, {"first": 7, "last": 6}), (7, *[8] * 6, 6)),
        ((32, 4, 2, {}), (4,) * 8),
        ((62, 4, 4, {"embedding": True, "loss": True}), (3, *[4] * 14, 3)),
        ((7, 2, 1, {"first": 3, "last": 4}), (3, 4)),
        ((12, 1, 1, {}), (12,)),
    ],
)
def test_megatrons_flags(asked, parts):
    *sizes, flags = asked
    assert told(*sizes, **flags) == parts
    assert sum(parts) == sizes[0]


@pytest.mark.rows(
    ("asked", "words"),
    [
        ((61, 16, 1, {}), "61 layers do not split over 16"),
        ((61, 8, 1, {"first": 70}), "do not split"),
        ((30, 4, 2, {"embedding": True, "loss": True}), "16 layers|8 layers|do not"),
        (
            (36, 4, 2, {"first": 6, "last": 6, "loss": True}),
            "only where first and last",
        ),
        ((33, 4, 2, {"first": 3}), "do not split in 2"),
        ((0, 4, 1, {}), "layers = 0"),
        ((8, 2, 1, {"first": 2.5}), "2.5"),
    ],
)
def test_flags_that_do_not_divide(asked, words):
    *sizes, flags = asked
    if asked[0] == 30:  # 32 over 4 in pieces of 2: divides, and is right
        assert told(*sizes, **flags) == (3, *[4] * 6, 3)
        return
    with pytest.raises(ValueError, match=words):
        told(*sizes, **flags)


def slowest(split, pattern, stages, costs, head, embedding, paired):
    """What the costliest stage costs."""
    each = [costs[k] for k in pattern]
    ends = list(itertools.accumulate(split, initial=0))
    parts = [sum(each[a:b]) for a, b in itertools.pairwise(ends)]
    parts[0] += embedding
    parts[-1] += head
    groups = ranks(stages, len(split) // stages, paired)
    return max(sum(parts[p] for p in group) for group in groups)


def every(layers, parts):
    """All splits in which only the first and the last part may be empty."""
    for cuts in itertools.combinations_with_replacement(range(layers + 1), parts - 1):
        ends = (0, *cuts, layers)
        split = tuple(b - a for a, b in itertools.pairwise(ends))
        if all(split[1:-1]):
            yield split


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(0, 1), min_size=1, max_size=9),
    st.integers(1, 4),
    st.integers(3, 16),
    st.integers(0, 40),
    st.integers(0, 3),
)
def test_the_split_is_the_best_of_all(pattern, stages, other, head, embedding):
    """One part a stage, layers of two kinds, against every split there is."""
    pattern, costs = tuple(pattern), (16, other)
    if stages > len(pattern) + 2:
        return
    asked = (pattern, stages, costs, head, embedding, False)
    found = spread(pattern, stages, 1, costs, head, embedding)
    assert sum(found) == len(pattern) and all(found[1:-1])
    best = min(slowest(one, *asked) for one in every(len(pattern), stages))
    assert slowest(found, *asked) == best


@pytest.mark.parametrize(
    ("stages", "pieces", "paired"), [(2, 2, 0), (2, 1, 1), (4, 1, 1)]
)
def test_pieces_and_pairs_are_the_best_of_all(stages, pieces, paired):
    parts = stages * pieces
    for layers, head in itertools.product(range(parts - 2 or 1, 11), (0, 5, 16, 40)):
        asked = ((0,) * layers, stages, (16,), head, 1, bool(paired))
        found = spread((0,) * layers, stages, pieces, (16,), head, 1, bool(paired))
        best = min(slowest(one, *asked) for one in every(layers, parts))
        assert sum(found) == layers and all(found[1:-1])
        assert slowest(found, *asked) == best


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 130), st.integers(1, 40), st.integers(1, 8), st.integers(0, 60))
def test_no_layer_is_lost(layers, stages, pieces, head):
    if stages * pieces > layers + 2 or (pieces > 1 and stages == 1):
        return
    found = spread((0,) * layers, stages, pieces, (16,), head, 1)
    assert sum(found) == layers and len(found) == stages * pieces
    assert all(found[1:-1]) and min(found) >= 0


@pytest.mark.rows(
    "name", ["llama-3-8b", "deepseek-v3", "gemma-2-2b", "mixtral-8x7b-v0.1"]
)
def test_the_parameters_of_all_stages_are_the_models(name):
    shape = shape_of(name, 4096)
    for pp, v in ((1, 1), (2, 1), (3, 2), (5, 1)):
        layout, kinds = Layout(pp=pp, interleave=v), len(shape.kinds)
        split = spread(shape.pattern, pp, v, (16,) * kinds, 20, 1)
        stages = grouped(shape.pattern, kinds, split, pp, False)
        whole = sum(s.many * held(shape, layout, s).total for s in stages)
        again = shape.table if shape.tied and pp > 1 else 0  # a copy at each end
        assert whole == pytest.approx(shape.parameters + again)
    pair = grouped(
        shape.pattern, kinds, spread(shape.pattern, 4, 1, (16,) * kinds, 9, 1), 4, True
    )
    layout = Layout(pp=4, schedule="dualpipe")
    whole = sum(s.many * held(shape, layout, s).total for s in pair)
    assert whole == pytest.approx(2 * shape.parameters)  # two copies, ends together


def test_the_fullest_stage_is_named():
    """Under 1F1B the first keeps most; a heavy last stage keeps more all the same."""
    shape = shape_of("llama-3-70b", 4096)
    asked = {"batch": 64, "length": 4096}
    even = memory_of(shape, Layout(pp=8, tp=8), **asked)
    assert even.stage == 0
    back = Layout(pp=2, tp=8, split=(8, 72))
    stages = grouped(shape.pattern, 1, back.split, 2, False)
    assert memory_of(shape, back, stages, **asked).stage == 1
    step = step_time("llama-3-70b", on="h100-sxm", chips=16, layout=back, batch=64)
    assert step.slowest == step.memory.stage == 1
    fair = step_time(
        "llama-3-70b", on="h100-sxm", chips=16, layout=Layout(pp=2, tp=8), batch=64
    )
    assert step.memory.total > fair.memory.total and not step.feasible


def test_a_split_by_hand_is_never_faster_than_the_one_that_is_found():
    asked = {"on": "h100-sxm", "chips": 64, "batch": 512}
    base = {"tp": 8, "pp": 8, "zero": 1, "recompute": "full", "sequence": True}
    best = step_time("llama-3-70b", layout=Layout(**base), **asked)
    for last in range(6, 15):
        left = 80 - last
        rest = [left // 7 + (at < left % 7) for at in range(7)]
        one = step_time(
            "llama-3-70b", layout=Layout(**base, split=[*rest, last]), **asked
        )
        assert one.time >= best.time * (1 - 1e-9)
    uneven = Layout(**base, split=(4, *[11] * 6, 10))
    slow = step_time("llama-3-70b", layout=uneven, **asked)
    assert slow.bubble > best.bubble + 0.03


def test_a_layer_that_predicts_is_one_more():
    asked = {"on": "h800-sxm", "chips": 2048, "batch": 15360, "dtype": "fp8"}
    base = "pp 16, ep 64, zero 1, dualpipe, recompute selective"
    plain, more = (
        step_time("deepseek-v3", layout=read_layout(base + words, 2048), **asked)
        for words in ("", ", mtp 1")
    )
    assert sum(more.split) == 62 and more.flops > plain.flops
    assert more.time > plain.time * 0.99
    shape, longer = shape_of("deepseek-v3", 4096), shape_of("deepseek-v3", 4096, 1)
    # 11.5 billion of its own, embedding and head shared (README_WEIGHTS.md)
    assert longer.parameters - shape.parameters == pytest.approx(11.5e9, rel=0.02)


def test_the_search_finds_what_deepseek_ran():
    found = plan(
        "deepseek-v3", on="h800-sxm", chips=2048, batch=15360, dtype="fp8", best=20
    )
    assert found[0].layout.pp > 1
    ways = [(c.layout.pp, c.layout.ep, c.layout.tp, c.layout.zero) for c in found]
    assert (16, 64, 1, 1) in ways
    own = found[ways.index((16, 64, 1, 1))]
    assert own.layout.schedule == "dualpipe"
    assert own.step.time < 1.05 * found[0].step.time
    hours = quoted("deepseek_v3.hours").si  # of a trillion tokens
    published = hours * 15360 * 4096 / quoted("deepseek_v3.tokens").si / 2048
    assert published == pytest.approx(19.9, rel=0.01)
    for one in (own, found[0]):
        assert one.step.time == pytest.approx(published, rel=0.15)


def test_experts_may_be_cut_by_other_ways_than_matrices():
    """Megatron-LM's --expert-tensor-parallel-size 1: EP among chips of TP, too."""
    asked = {"on": "h100-sxm", "chips": 256, "batch": 2048}
    base = "tp 2, pp 8, vp 4, ep 32, zero 1, recompute full"
    with pytest.raises(ValueError, match="ep = 32 x etp = 2 does not divide tp = 2"):
        step_time("qwen3-235b-a22b", layout=read_layout(base, 256), **asked)
    own = read_layout(base + ", etp 1", 256)
    found = step_time("qwen3-235b-a22b", layout=own, **asked)
    assert found.feasible and "etp 1" in own.text()
    with pytest.raises(ValueError, match="etp = 4 does not divide tp = 2"):
        step_time("qwen3-235b-a22b", layout=read_layout(base + ", etp 4", 256), **asked)
    # As many experts a chip: whole ones of fewer ranks, or halves of more.
    shape, one = shape_of("mixtral-8x7b-v0.1", 4096), {"tp": 2, "dp": 4, "zero": 1}
    whole, half = Layout(ep=8, etp=1, **one), Layout(ep=4, **one)
    stage = grouped(shape.pattern, 1, (32,), 1, False)[0]
    assert held(shape, whole, stage) == held(shape, half, stage)
    same = {"on": "h100-sxm", "chips": 8, "batch": 64}
    told = [
        step_time("mixtral-8x7b-v0.1", layout=x, **same)
        for x in (half, Layout(ep=4, etp=2, **one))
    ]
    assert told[0].memory == told[1].memory and told[0].sent == told[1].sent


@pytest.mark.parametrize(("p", "m"), [(2, 4), (4, 8), (8, 20), (16, 120)])
def test_forwards_without_a_partner_are_those_of_the_order(p, m):
    made = pipeline(p, m, "dualpipe")
    orders = zip(made.orders, made.beside, strict=True)
    lone = [sum(w.kind == FORWARD for w in order) - len(b) for order, b in orders]
    assert alone(p, m) == pytest.approx(sum(lone) / p / m)


def test_arrays_of_uneven_layouts_are_their_elements():
    ways = [
        (pp, v, ep)
        for pp, v, ep in itertools.product((1, 2, 4, 8, 16, 32), (1, 2, 4), (1, 8))
        if v == 1 or pp > 1
    ]
    pp, v, ep = (np.array(column, float) for column in zip(*ways, strict=True))
    asked = {"on": "h800-sxm", "chips": 256, "batch": 1024, "dtype": "fp8"}
    rest = {"zero": 1, "recompute": "full"}
    many = Layout(dp=256 / pp, pp=pp, interleave=v, ep=ep, **rest)
    found = step_time("deepseek-v3", layout=many, **asked)
    assert found.split == () and found.error is None
    for at, (p, pieces, e) in enumerate(ways):
        if p * pieces > 63:
            assert found.time[at] == inf
            continue
        one = Layout(dp=256 // p, pp=p, interleave=pieces, ep=e, **rest)
        step = step_time("deepseek-v3", layout=one, **asked)
        assert found.time[at] == pytest.approx(step.time or inf)
        assert found.memory.total[at] == pytest.approx(step.memory.total)
        assert found.sent.total[at] == pytest.approx(step.sent.total)
        assert found.bubble[at] == pytest.approx(step.bubble, abs=1e-9)


def test_narrow_whole_numbers_do_not_run_over():
    narrow = Layout(dp=np.int8(16), tp=np.int8(16))
    assert narrow.chips == 256 and type(narrow.dp) is int
    asked = {"on": "h100-sxm", "chips": 256, "length": 4096}
    rest = {"zero": 3, "recompute": "full", "sequence": True}
    many = Layout(dp=np.array([32], np.int8), tp=np.array([8], np.int8), **rest)
    found = step_time("llama-3-70b", layout=many, batch=np.int16(512), **asked)
    one = step_time(
        "llama-3-70b", layout=Layout(dp=32, tp=8, **rest), batch=512, **asked
    )
    assert found.time[0] == pytest.approx(one.time)
    none = Layout(dp=np.array([]), pp=np.array([]))
    assert step_time("llama-3-70b", layout=none, batch=512, **asked).time.size == 0
    with pytest.raises(ValueError, match="a split is one layout's"):
        Layout(pp=np.array([2.0]), split=(40, 40))


@pytest.mark.rows("key", hardware.names())
def test_every_device_has_a_time_or_a_reason(key):
    """Two to twenty-seven of each: no division by nothing, no endless time."""
    reasons = (ValueError, UnknownSpec, Infeasible)
    ways = [Layout(dp=2, zero=3), Layout(tp=3), Layout(pp=8), Layout(cp=9)]
    for layout in (*ways, Layout(dp=27, zero=1), Layout(tp=2, ep=2, dp=2)):
        for port in (None, 1e9):
            try:
                step = step_time(
                    "qwen3-0.6b" if layout.ep == 1 else "mixtral-8x7b-v0.1",
                    on=key,
                    chips=layout.chips,
                    layout=layout,
                    batch=27 * 16,
                    length=1152,
                    port=port,
                )
            except reasons as why:
                assert len(str(why)) > 20 and "division" not in str(why)
            else:
                assert step.time is None or (isfinite(step.time) and step.time > 0)
                assert isfinite(step.sent.total) and isfinite(step.bubble)


def test_a_chip_without_links_is_refused_by_reason():
    asked = {"on": "m4-max", "batch": 8, "length": 1024}
    alone = step_time("qwen3-0.6b", chips=1, layout=Layout(), **asked)
    assert alone.feasible
    two = {"chips": 2, "layout": Layout(dp=2)}
    with pytest.raises(ValueError, match=r"neither a link to others .* --port in Gbit"):
        step_time("qwen3-0.6b", **two, **asked)
    with pytest.raises(ValueError, match="neither a link"):
        plan("qwen3-0.6b", on="m4-max", chips=2, batch=8)
    slow, fast = (
        step_time("qwen3-0.6b", **two, **asked, port=port).time for port in (1e9, 1e10)
    )
    assert alone.time / 2 < fast < slow


@pytest.mark.rows("key", hardware.names())
def test_a_card_has_one_port_wherever_it_is_asked(key):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            there = fabric(key, 64, nodes=8)
            here = device_of(key, "bf16")
    except (ValueError, UnknownSpec):
        return
    assert here.port == there.port or here.port == inf


@pytest.mark.rows(
    ("words", "said"),
    [
        ("tp 8, pp 3", "24 ways do not fill 64"),
        ("tp 8 pp 2", "8 pp 2"),
        ("speed 3", "none of a layout's words"),
        ("tp eight", "whole number"),
        ("zero 7", "zero = 7"),
        ("recompute most", "most"),
        ("pp 2, schedule fastest", "fastest"),
    ],
)
def test_words_of_a_layout_that_are_none(words, said):
    with pytest.raises((ValueError, UnknownName), match=said):
        read_layout(words, 64)


def test_words_of_a_layout():
    found = read_layout("TP8; pp=2, VPP 4, mbs 2, zero_1, recompute full, sp 0", 64)
    assert found == Layout(
        dp=4,
        tp=8,
        pp=2,
        interleave=4,
        micro=2,
        zero=1,
        recompute="full",
        sequence=False,
    )
    assert read_layout(found.text() + ", sp 0", 64) == found
    assert read_layout("", 64) == Layout(dp=64)
    assert read_layout("pp 4, zb-h1", 64).schedule == "zb-h1"
    assert Layout(schedule="DualPipe", recompute="Full").schedule == "dualpipe"


def test_a_planted_even_split_is_seen(monkeypatch):
    """What spreads layers without counting the head is slower where the head is big."""
    asked = {"on": "h100-sxm", "chips": 16, "batch": 64}
    layout = Layout(pp=8, dp=2, zero=1, recompute="full")
    good = step_time("gemma-2-2b", layout=layout, **asked)
    plain = splitting.spread

    def blind(pattern, stages, interleave, costs, head, embedding, paired=False):
        return plain(pattern, stages, interleave, costs, 0, 0, paired)

    monkeypatch.setattr(splitting, "spread", blind)
    assert step_time("gemma-2-2b", layout=layout, **asked).time > 1.1 * good.time
