"""The account of a token: what it covers, what it adds up, and what it refuses."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware, models
from stacklib.interconnect.selection.machine import fabric
from stacklib.interconnect.selection.timed import collective_time, family
from stacklib.kernels.launch.launches import cost, replay_time
from stacklib.kernels.rows.sampling_time import GATHER_S, LAUNCH_S, flash_time
from stacklib.memory.ladder import energy
from stacklib.models import operations
from stacklib.quantity import Quantity, UnknownName, explain, say
from stacklib.roofline import decode_step
from stacklib.roofline.work.fit import Infeasible, fit_memory
from stacklib.serving import Account, account
from stacklib.serving.token.account import CONTEXT
from stacklib.serving.token.exchanges import link_rate
from stacklib.serving.token.lines import DoubleCount, Line, line_of
from stacklib.serving.token.shape import ATTENTION, HEAD, NORMS, PRODUCTS
from stacklib.serving.token.work import (
    EXCHANGES,
    LAUNCHES,
    SAMPLING,
    between,
    kernels,
    line_work,
)

CASE = {"model": "llama-3-70b", "on": "h100_sxm", "tp": 8}
# dense, grouped, with windows, latent, mixtures with and without shared ones, states
MODELS = (
    "llama-3-8b",
    "gpt2-124m",
    "llama-2-7b",
    "mistral-7b-v0.1",
    "gemma-3-27b",
    "qwen3-32b",
    "mixtral-8x7b-v0.1",
    "qwen3-30b-a3b",
    "gpt-oss-20b",
    "deepseek-v2",
    "deepseek-v3.2",
    "deepseek-v4-flash",
    "kimi-k2",
    "nemotron-3-nano-30b-a3b",
    "gemma-4-e2b",
)
COVERING = (PRODUCTS, ATTENTION, NORMS, HEAD)


def seconds(found: Account) -> float:
    total = found.total()
    return total.si if isinstance(total, Quantity) else float(total)


def big(model: str) -> dict[str, Any]:
    """Chips that hold a model, if need be a wall of them."""
    found = models.get(model)
    if found.keeps_state:  # of which no chip keeps a copy
        return {"on": "b300_sxm", "tp": found.cache_heads}
    sizes = (n for n in (8, 4, 3, 2, 1) if found.heads % n == 0)
    return {"on": "b300_sxm", "tp": next(sizes)}


@pytest.mark.rows("model", MODELS)
@pytest.mark.parametrize("prompt", [None, 100])
def test_nothing_is_missing_and_lines_hold_what_they_cover(model, prompt):
    batch, context = 3, 100 if prompt else 3000
    chips = big(model)
    found = account(model, **chips, batch=3.0, context=float(context), prompt=prompt)
    assert found.missing() == ()
    phase = "decode" if prompt is None else "prefill"
    held: Counter[tuple[str, str]] = Counter()
    for op in operations(
        models.get(model), phase, context=context, batch=batch, logits="last"
    ):
        for line in found.lines:
            for part, name, what in line.covers:
                if (part, name) == (op.part, op.name):
                    amount = op.bytes if what == "bytes" else op.flops
                    held[line.name, what] += amount
    if prompt is None:  # chips beyond its heads keep copies of the cache
        held[ATTENTION, "bytes"] *= max(1, chips["tp"] / models.get(model).cache_heads)
    for name in COVERING:
        line = found[name]
        assert line.bytes == pytest.approx(held[name, "bytes"], rel=1e-9)
        assert line.operations == pytest.approx(held[name, "arithmetic"], rel=1e-9)


def test_a_fault_in_a_cover_is_seen():
    found = account(**CASE)
    head, norms = found[HEAD], found[NORMS]
    both = replace(head, covers=head.covers | norms.covers)
    with pytest.raises(DoubleCount, match=r"'norms'.*'norms and the like' and 'output"):
        found.with_(both).total()
    less = found.with_(replace(head, covers=frozenset()))
    assert {str(c) for c in less.missing()} == {
        "the bytes of 'output' (head)",
        "the arithmetic of 'output' (head)",
    }
    with pytest.raises(UnknownName, match="output matrix"):
        found.with_(Line("output", ""))


# of the last the layers differ in how often a head is kept
@pytest.mark.rows("model", (*MODELS, "gemma-4-31b"))
def test_lines_that_wait_for_memory_add_up_to_the_decode_step(model):
    case = {**big(model), "batch": 1.0, "context": 4096.0}
    found = account(model, **case)
    step = decode_step(model, **case)
    assert all(found[name].bound == "bytes" for name in COVERING)
    read = sum(found[name].bytes for name in COVERING)
    assert read == pytest.approx(step.bytes, rel=1e-9)
    beside = found[NORMS].beside / step.terms.bandwidth
    times = sum(found[name].time for name in COVERING) - beside
    assert times == pytest.approx(step.time, rel=1e-9)


def test_the_same_as_floats_quantities_and_arrays():
    batch, context = np.array([1.0, 8.0, 64.0]), np.array([0.0, 4096.0, 512.0])
    swept = account(**CASE, batch=batch, context=context)
    for i, (b, c) in enumerate(zip(batch, context, strict=True)):
        plain = account(**CASE, batch=b, context=c)
        told = account(**CASE, batch=int(b), context=int(c))
        for one, many, traced in zip(plain.lines, swept.lines, told.lines, strict=True):
            if one.time is None:
                assert many.time is None is traced.time
                continue
            assert traced.time.si == pytest.approx(one.time, rel=1e-11)
            time = np.broadcast_to(many.time, batch.shape)[i]
            assert time == pytest.approx(one.time, rel=1e-12)
        assert told.total().si == pytest.approx(plain.total(), rel=1e-11)


def test_every_leaf_of_a_total_opens():
    text = explain(account(**CASE).total())
    for words in (
        "H100 memory bandwidth",
        "from one node of a graph to the next",
        "exchange_time(",
    ):
        assert words in text
    assert "bare" not in text


def test_what_does_not_fit_has_no_time():
    with pytest.raises(Infeasible, match=r"141.*> 80 GB.*does not fit"):
        account("llama-3-70b", "h100_sxm")
    with pytest.raises(Infeasible, match="does not fit"):
        account("llama-3-70b", "h100_sxm", batch=1.0)
    with pytest.raises(Infeasible, match="does not fit"):
        account("deepseek-v3", "h100_sxm", "fp8", ep=4)
    swept = account(**CASE, batch=np.array([1.0, 1e6]))
    assert np.isnan(swept.total()).tolist() == [False, True]


def test_launches_are_a_graph_replayed():
    model = models.get("llama-3-70b")
    count = kernels(model, 8)
    assert count == 11 * 80  # section 4.2
    assert kernels(model) == 9 * 80  # nothing is exchanged
    at_once = replay_time(
        count, 0.0, replay_s=cost("replay").si, node_s=cost("node").si
    )
    assert account(**CASE)[LAUNCHES].time.si == pytest.approx(at_once)


@pytest.mark.parametrize("software", ["engine", "library"])
def test_exchanges_are_two_sums_a_layer(software: str):
    on, direct = fabric("h100_sxm", 8), software == "engine"
    once = collective_time("all_reduce", 8192 * 2, on, direct=direct)
    line = account(**CASE, software=software)[EXCHANGES]
    assert line.time.si == pytest.approx(160 * once.time)
    told = family(8192 * 2, on, direct=direct)
    assert (line.family, line.beside) == (told, 8192 * 2)
    assert told.startswith("D_small/nvlink/small")
    alone = account("llama-3-8b", "h100_sxm")[EXCHANGES]
    assert alone.time is None and alone.beside == 0.0


def test_experts_are_read_as_tokens_touch_them_and_shared_out():
    asked = {"model": "deepseek-v3", "on": "h200_sxm", "dtype": "fp8"}
    apart = account(**asked, ep=16, batch=64.0)
    assert apart[PRODUCTS].time < account(**asked, ep=32, batch=1.0)[PRODUCTS].time * 40
    assert apart[EXCHANGES].regime == "the engine's kernels"
    # every group reads the dense part; the experts are read once
    both = account(**asked, tp=16, batch=64.0)[PRODUCTS].bytes, apart[PRODUCTS].bytes
    shape = models.get("deepseek-v3")
    bare = shape.read_by_experts()[0] - shape.vocab * shape.hidden
    assert both[1] - both[0] == pytest.approx(15 * bare, rel=0.01)
    for wrong, ep in (("does not divide the 256 experts", 3), ("no experts", 2)):
        model = "llama-3-8b" if "no" in wrong[:2] else "deepseek-v3"
        with pytest.raises(ValueError, match=wrong):
            account(model, "h200_sxm", "fp8", ep=ep)


def test_the_difference_is_line_by_line():
    old, new = (account(**{**CASE, "on": on}) for on in ("h100_sxm", "b200_sxm"))
    saved = old - new
    assert sum(q.si for q in saved.values()) == pytest.approx(
        old.total().si - new.total().si
    )
    assert saved[PRODUCTS].si == pytest.approx(
        old[PRODUCTS].time.si - new[PRODUCTS].time.si
    )
    alone = account("llama-3-8b", "h100_sxm") - account("llama-3-8b", "h100_sxm", tp=2)
    assert alone[EXCHANGES].si < 0 < alone[PRODUCTS].si


def test_the_band_moves_families_together():
    found = account(**CASE, mode="calibrated")
    band = found.band()
    above = dict.fromkeys("ABD", 0.0)
    for line in found.lines:
        if line.family and (known := hardware.error_band(line.family)):
            share = line.time.si / found.total().si
            above[line.family[0]] += share * (known.high - 1)
    high = sum(x**2 for x in above.values()) ** 0.5
    assert band.high == pytest.approx(1 + high) and 0 < band.low < 1
    assert "one family err together" in band.words
    limit = account(**CASE).band()
    assert 0 < limit.high - 1 < high  # exchanges alone
    assert limit.words.endswith("lines at their limit carry none")


@given(
    st.sampled_from(MODELS), st.integers(1, 300), st.integers(0, 9000), st.booleans()
)
def test_more_work_takes_no_less_time(model, batch, context, prompt):
    given = {**big(model), "dtype": "e4m3fn"}
    asked = {"prompt": context + 1} if prompt else {}
    times = [
        [
            line.time or 0.0
            for line in account(
                model, **given, batch=float(b), context=float(c), **asked
            ).lines
        ]
        for b, c in ((batch, context), (batch + 1, context + 16))
    ]
    assert all(more >= less for less, more in zip(*times, strict=True))


@pytest.mark.rows(
    "change",
    [
        {"batch": 0},
        {"batch": -1.0},
        {"batch": float("nan")},
        {"context": 0.5},
        {"tp": 3},
        {"tp": 0},
        {"tp": True},
        {"ep": 0},
        {"prompt": 0},
        {"mode": "lim"},
        {"software": "nccl"},
        {"dtype": "fp3"},
        {"model": "llama-3"},
        {"on": "h101"},
        {"on": "grace"},
    ],
)
def test_bad_input_gives_no_number(change):
    with pytest.raises((ValueError, LookupError)) as told:
        account(**{**CASE, **change})
    (field,) = change
    value = change[field]
    assert str(value) in str(told.value) or field in str(told.value)


@pytest.mark.parametrize("prompt", [None, np.int8(100)])
def test_narrow_whole_numbers_of_numpy_do_not_overflow(prompt):
    case = {"model": "llama-3-8b", "on": "h100_sxm", "tp": np.int8(2)}
    sizes = {"batch": np.int8(100), "context": np.int16(3000), "prompt": prompt}
    wide = {name: None if n is None else int(n) for name, n in sizes.items()}
    assert account(**case, **sizes).total() == account(**case, **wide).total()
    asked, plain = ({n: d[n] for n in ("batch", "context")} for d in (sizes, wide))
    shape = models.get("llama-3-8b")
    work = [operations(shape, "prefill", **given) for given in (asked, plain)]
    assert fit_memory(**case, **asked).need.si > 20e9
    assert work[0] == work[1]


def test_a_sum_over_two_accounts_is_not_said():
    h100, b200 = account(**CASE), account(**CASE | {"on": "b200-sxm"})
    link, other = h100["exchanges"].time, b200["exchanges"].time
    rest = h100["sampling"].time
    told = {
        "own": link + rest,
        "ratio": link / other,
        "difference": (h100 - b200)["exchanges"],
        "whole": h100.with_(b200["exchanges"]).total(),
    }
    for name, quantity in told.items():
        say("told", **{name: (quantity, name)})
    two = (
        rest + other,
        2 * rest + other,
        h100.total() + other,
        (h100.total() + b200.total()) / link,
    )
    for quantity in two:
        with pytest.raises(ValueError, match=r"8 x B200.*8 x H100.*with_"):
            say("told", sum=(quantity, "A sum"))


def test_what_fits_is_what_fits_a_decode_step():
    batch = np.array([1.0, 10.0, 100.0, 300.0, 400.0, 1000.0])
    case = {**CASE, "batch": batch, "context": 4096.0}
    unfit = np.isnan(account(**case).total())
    assert unfit.tolist() == (~decode_step(**case).fits).tolist()
    assert unfit.any() and not unfit.all()


@pytest.mark.rows("on", ["h100_sxm", "a100_sxm_80gb", "v100_sxm2_16gb", "m4_max"])
@pytest.mark.rows("dtype", ["int4", "int8", "fp8", "nvfp4", "q4_k_m", "int4_g128"])
def test_the_cache_is_read_as_it_is_held(on, dtype):
    """Weights and cache are two formats; the cache's follows from what a chip has."""
    step = decode_step("llama-3-8b", on=on, dtype=dtype)
    if not step.fit.fits:
        return
    for batch in (1, 1.0):
        line = account("llama-3-8b", on, dtype, batch=batch)[ATTENTION]
        read = line.bytes.si if isinstance(line.bytes, Quantity) else line.bytes
        assert read * CONTEXT / (CONTEXT + 1) == pytest.approx(step.fit.kv.si)


@pytest.mark.rows("on, bit", [
    ("a100_sxm_80gb", 6.0), ("h100_sxm", 3.92), ("b200_sxm", 3.92), ("mi300x", 3.92),
    ("rtx_4090", 7.25), ("rtx_5090", 5.0), ("m4_max", 4.0), ("tpu_v5p", 6.0),
])  # fmt: skip
@pytest.mark.rows("dtype", ["16 bits", "int8", "q4_k_m"])
def test_joules_are_bytes_and_operations_times_their_figures(on, bit, dtype):
    """By hand, from each generation's figure and the wires of the die."""
    chip = hardware.get(on)
    wide = "bf16" if "bf16" in chip.formats else "fp16"
    dtype = wide if dtype == "16 bits" else dtype
    found = account("llama-3-8b", on, dtype, batch=4)
    wires = sum(x.per_bit.si for x in energy.circuit_path(chip)[1:])
    board = sum(x.per_bit.si for x in energy.board_path(chip))
    runs = dtype if dtype in chip.formats else wide
    narrow = chip.peak(wide).si / chip.peak(runs).si
    each = [energy.operation_energy(chip, "circuit").si * narrow]
    if fitted := hardware.microarchitecture(chip).tensor_energy:
        each.append(hardware.efficiency(fitted) * narrow)
    for name in COVERING:
        line = found[name]
        moved = 8 * float((line.bytes + line.beside).si)
        low = moved * (bit * 1e-12 + wires) + line.operations.si * each[0]
        high = moved * board + line.operations.si * each[-1]
        assert line.joules.low.si == pytest.approx(low, rel=1e-6)
        assert line.joules.high.si == pytest.approx(high, rel=1e-6)
    assert found[LAUNCHES].joules is None


def test_joules_that_nobody_knows_have_a_reason():
    found = account("qwen3.5-9b", "wse3", "fp16", mode="calibrated")
    why = "no joules: no figure of a bit"
    at_limit = "at its limit: no family predicts its kernels"
    assert found[HEAD].joules is None and found[HEAD].note == f"{why} of its memory"
    assert found[ATTENTION].note == f"{why} of its memory; {at_limit}"
    assert account(**CASE)[EXCHANGES].note == f"{why} between chips"
    assert account(**CASE, batch=1.0)[EXCHANGES].note == ""  # in plain seconds
    assert account("llama-3-8b", "h100_sxm", batch=1.0)[HEAD].joules is None  # plain


def test_sampling_is_a_fused_draw_after_its_head():
    sizes = {"batch": 8.0, "hidden": 8192, "vocab": 128256, "bandwidth": 1.0}
    link = link_rate("h100_sxm", 8)
    assert link_rate("h100_sxm", 1) == 1.0 < min(link_rate("h100_sxm", 2), link)
    due = flash_time(**sizes, launch_s=LAUNCH_S, ranks=8, link=link, latency_s=GATHER_S)
    found = account(**CASE, batch=8.0)
    assert found[SAMPLING].time == pytest.approx(due.sampling)
    assert found[PRODUCTS].beside == found[HEAD].beside == 0.0 < found[NORMS].beside


@pytest.mark.rows(
    "model, count, numbers",
    [
        # 3 dense layers of 9 kernels, 58 of 16: with a router and a shared expert
        ("deepseek-v3", 3 * 9 + 58 * 16, None),
        ("mixtral-8x7b-v0.1", 32 * 13, 2 * 4 * 4096 + 2 * 6144 + 3 * 2 * 14336),
        ("llama-3-8b", 32 * 9, 2 * 4 * 4096 + 2 * 6144 + 3 * 14336),
    ],
)
def test_kernels_and_what_they_pass_on(model, count, numbers):
    found = models.get(model)
    assert kernels(found) == count
    if numbers:  # of one token in one layer
        assert between(found, 1) == 2 * 32 * numbers


def test_few_tokens_on_many_chips_touch_an_expert_each():
    found = account(
        "deepseek-v3", "h200_sxm", "fp8", ep=64, batch=1.0, mode="calibrated"
    )
    assert 0 < found[PRODUCTS].time < found.total()


def test_an_account_says_its_lines():
    found = account(**CASE)
    shown = repr(found)
    for words in ("8 x H100, limit: 6.27 ms", "launches and pauses: 442", "not timed"):
        assert words in shown
    assert "6.27 ms" in found._repr_html_().replace("\u2009", " ").replace(
        "&nbsp;", " "
    )
    assert [row["line"] for row in found.rows()] == [x.name for x in found.lines]
    assert "no band" not in account(**CASE, mode="calibrated").band().words
    strange = found.with_(replace(found[HEAD], family="Z"))
    assert strange.band().words.endswith("no band for Z")
    assert Line("a", "", t_bytes=2.0, t_arithmetic=2.0).bound == "bytes"
    given = {"t_fixed": 1.0, "covers": found[HEAD].covers, "note": "n"}
    made = line_of("a", "s", 2.0, **given)
    assert made == Line("a", "s", 2.0, **given) and hash(made)
    with pytest.raises(FrozenInstanceError):
        made.name = "b"
    assert Line("a", "", t_bytes=2.0, t_arithmetic=3.0, t_fixed=1.0).time == 4.0


def test_experts_pass_on_what_is_between_their_products():
    rows = 1536 + 128 * 192 + 576 + 128 * 256
    inner = 3 * 18432 + 58 * (8 * 2048 + 2048)
    numbers = 61 * (2 * 4 * 7168 + 2 * rows) + 3 * inner
    assert between(models.get("deepseek-v3"), 1) == 2 * numbers
    assert line_work("llama-3-8b", HEAD).bytes == 2 * 128256 * 4096
    cached = models.get("llama-3-8b").kv_bytes(4097, "bf16").si
    assert line_work("llama-3-8b", ATTENTION).bytes == cached  # of one sequence
