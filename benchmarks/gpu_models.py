"""The book's own models of each case of the GPU benchmark, by backend.

A case gives seconds and the name of the error band that they carry. Products are
family A's; Triton's take the tiles of the recorded cubins and wait for the first loads
and the last store of each wave. Attentions are family B's: flash is FlashAttention-2's
rule, cuDNN the device's own; Triton's kernels are the compiler's rule with as many
programs under way as the cubin lets a unit hold, what it spills, and a backward pass of
seven products for five. Kernels that stream go by the bandwidth of streams and one
launch, once over their bytes or as often as torch's chain of kernels passes over them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from gpu_cases import Case

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.kernels.schedule.attention_time import Attention, cell, plan, predict
from stacklib.kernels.schedule.cuts import WHOLE
from stacklib.kernels.schedule.rates import newest, rates_of
from stacklib.kernels.schedule.rules import RULES, Rule, rule_of, settled
from stacklib.kernels.written.cubins import Cubin, cubin
from stacklib.models import LanguageModel, from_hf_config
from stacklib.roofline.bound import gemm, hierarchy
from stacklib.roofline.work.fit import Infeasible
from stacklib.roofline.work.products import Product, Tiling, tilings
from stacklib.serving import account
from stacklib.serving.token.work import SAMPLING

Told = tuple[float, str]  # seconds, and whose band they carry
OUT = {"fp8": 2.0, "int8": 4.0}  # bytes of a result, where they are not the operands'
WIDE = {"fp32": 4.0, "tf32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0}
SEVEN = 7 / 5  # products: scores and their gradients are made in both of two kernels
LAUNCH = "launch_kernel"
TORCH_PASSES = {
    "layernorm_linear": 2,
    "sampling": 4,
}  # over the normed rows; the logits


@cache
def device(key: str) -> Accelerator:
    """A device by its key, read once."""
    return hardware.get(key)


def stream(case: Case, key: str, more: float = 0.0) -> Told:
    """One kernel that reads and writes its bytes once, and ``more`` bytes."""
    moved = (case["bytes"] + more) / hierarchy.stream_rate(key, "mixed").rate
    return moved + hardware.efficiency(LAUNCH), "C"


def launched(case: Case, key: str) -> Told:
    """Kernels one after the other, each ready when the one before has ended."""
    each = "launch_stream" if "stream" in case["id"] else LAUNCH
    return case["n"] * hardware.efficiency(each), ""


def product(case: Case, key: str, tile: Cubin | None = None) -> Told | None:
    """A product by the library, or by Triton's tile; None without a rate for it."""
    dtype = case["dtype"]
    if dtype not in device(key).formats:
        return None
    size = WIDE[dtype]
    shape = case["m"], case["n"], case["k"]
    work = Product(*shape, dtype, size, size, OUT.get(dtype, size))
    chip = gemm.chip_of(key, dtype)
    band = gemm.band_of(work, chip)
    if tile is None:
        return float(gemm.gemm_time(work, key, "kernel").time), band
    rows, columns = tile.blocks["BLOCK_M"], tile.blocks["BLOCK_N"]
    chosen = [t for t in tilings(work, int(chip.units)) if t.split == 1]
    count = -(-work.m // rows) * -(-work.n // columns)
    own = replace(chosen[0], rows=rows, columns=columns, blocks=count)
    found = gemm.predict(work, chip, "kernel", (own,))
    return float(found.time) + _ends(own, chip, tile, key), band


def _ends(own: Tiling, chip: gemm.Chip, tile: Cubin, key: str) -> float:
    """Seconds of each wave's first loads and last store, hidden by other programs."""
    at_once = max(1, tile.programs(key))
    waves = own.blocks / chip.units
    store = own.rows * own.columns * 2 * chip.units / chip.bandwidth
    return float(waves * (chip.near + store) / at_once)


def attention(case: Case, key: str) -> Told | None:
    """An attention by its backend; None where the device lacks its format."""
    if case["dtype"] not in device(key).formats:
        return None
    backend, back = case["backend"], case.get("op") == "backward"
    shape = (case[n] for n in ("batch", "heads", "kv_heads", "queries", "keys", "dim"))
    work = Attention(*shape, case["dtype"], case["causal"], backward=back)
    band = cell(work, device(key), served=False)
    if backend == "triton":
        return _compiled(work, key), "/".join(("B", *band, "library"))
    software = "naive" if backend == "math" else "tuned"
    warps = RULES["fa2"] if backend in ("flash", "efficient") else None
    found = predict(plan(work, key, software, by=warps))
    return found.time, "/".join(("B", *band, "library" if warps else software))


def _compiled(work: Attention, key: str) -> float:
    if work.queries == 1:  # its cubin multiplies by HMMA
        return predict(plan(work, key, "library", by=RULES["fa2"])).time
    name = f"flash {'backward ' if work.backward else ''}{work.head_dim}"
    masked = " causal" if work.causal or work.backward else ""
    part = "keys_kernel" if work.backward else "forward_kernel"
    found = cubin(name + masked, part)
    rule = _rule(found, key)
    time = predict(plan(work, key, "library", by=rule)).time
    return time * (SEVEN if work.backward else 1.0) + _spilled(work, found, key)


def _rule(found: Cubin, key: str) -> Rule:
    """The compiler's rule; programs of a unit hide one another."""
    base = rule_of("library", device(key))
    if newest(device(key)) == "mma.sync":
        return base
    programs = max(1, found.programs(key))
    base = replace(base, groups=programs)
    return settled(base, rates_of(key), found.blocks["BLOCK_D"])


def _spilled(work: Attention, found: Cubin, key: str) -> float:
    """Seconds in which what was spilled passes through the L1, in each turn."""
    if not found.spilled_bytes:
        return 0.0
    rates = rates_of(key)
    pairs = work.batch * work.heads * work.queries * work.keys
    pairs /= 2 if work.causal else 1
    turns = pairs / found.blocks["BLOCK_Q"] / found.blocks["BLOCK_K"]
    moved = 2 * found.spilled_bytes * 32 * found.warps * turns
    return moved / rates.shared / rates.units / rates.clock


def written(case: Case, key: str) -> Told | None:
    """A kernel of chapter 4, or torch's of the same work."""
    op, ours = case["op"], case["backend"] == "triton"
    if op in ("flash", "backward", "decode"):
        return attention(case, key)
    if op == "matmul":
        return product(case, key, cubin("matmul 128x256x64x8x8x3"))
    if op == "layernorm_linear":
        linear = {**case, "m": case["rows"], "k": case["columns"]}
        tile = cubin(op) if ours else None
        found = product(linear, key, tile)
        if found is None or ours:
            return found
        rows = 2.0 * case["rows"] * case["columns"] * TORCH_PASSES[op]
        return found[0] + stream({"bytes": 0}, key, rows)[0], found[1]
    if op == "sampling":
        logits = 0.0 if ours else 4.0 * case["rows"] * case["n"] * TORCH_PASSES[op]
        time, band = stream(case, key, logits)
        return time + hardware.efficiency(LAUNCH) * (1 if ours else 4), band
    if op in ("fp8_matmul", "mxfp8_matmul"):
        tile = cubin(op.removesuffix("_matmul"))
        return product(case, key, tile)
    return stream(case, key)


def step(case: Case, key: str) -> Told | None:
    """A decode step by the account, its attention by the backend's kernels.

    None where it does not fit.
    """
    batch, context = float(case["batch"]), float(case["context"])
    try:
        found = account(part(case), key, "bf16", 1, batch, context, mode="calibrated")
    except Infeasible:
        return None
    lines = [x for x in found.lines if x.time is not None and x.name != SAMPLING]
    cached = next(x for x in lines if (x.family or "").startswith("B/"))
    asked = {**case, "queries": 1, "keys": case["context"], "causal": False}
    own = attention({**asked, "backend": "triton", "op": ""}, key)
    if own is None:
        return None
    rest = sum(float(x.time) for x in lines if x is not cached)
    if case["backend"] == "torch":  # whose attention leaves a head to one block
        shape = (case[n] for n in ("batch", "heads", "kv_heads"))
        work = Attention(*shape, 1, case["context"], case["dim"], cut=WHOLE)
        alone = predict(plan(work, key, "library", by=RULES["fa2"])).time
        return rest + case["layers"] * alone, "E_decode"
    return rest + case["layers"] * own[0], "E_decode"


def part(case: Case) -> LanguageModel:
    """The part of the model that the case runs, as a model of its own."""
    return from_hf_config(
        {
            "model_type": "llama",
            "hidden_size": case["hidden"],
            "num_hidden_layers": case["layers"],
            "num_attention_heads": case["heads"],
            "num_key_value_heads": case["kv_heads"],
            "head_dim": case["dim"],
            "intermediate_size": case["intermediate"],
            "vocab_size": case["vocab"],
            "max_position_embeddings": case["context"],
        }
    )


def told(case: Case, key: str) -> Told | None:
    """Seconds of a case on a device, and whose band; None where nothing is said."""
    section: Any = case["section"]
    if section == "launch":
        return launched(case, key)
    if section == "copy":
        return stream(case, key)
    if section in ("gemm", "gemv"):
        return product(case, key)
    if section == "sdpa":
        return attention(case, key)
    if section in ("decode", "power"):
        return step(case, key)
    return written(case, key)
