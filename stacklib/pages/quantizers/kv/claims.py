"""Claims on a KV cache in fewer bits, and on the power that eight bits save."""

import numpy as np

from stacklib import memory, models
from stacklib.evidence import Finding, claim
from stacklib.evidence.ledger import get
from stacklib.memory.ladder.energy import StepEnergy
from stacklib.quantity import Quantity, bytes_per_element, chosen, counted
from stacklib.quantizers import quantize

MODEL, CHIP, CHIPS = "llama-3-70b", "h100_sxm", 2
SERVING_BATCH, SERVING_CHIPS = 64, 4
TOKENS = chosen(16, label="tokens of a page")


def page_bytes(scheme: str, heads: int, size: int) -> int:
    """Bytes of a page of one layer's keys, scales counted."""
    return quantize(np.zeros((int(TOKENS.si), heads, size), np.float32), scheme).nbytes


def cut(scheme: str) -> Quantity:
    """Bytes of a page in BF16 over its bytes in a scheme."""
    model = models.get(MODEL)
    heads = model.size("kv_heads", "KV heads")
    size = model.size("head_dim", "head size")
    held = counted(page_bytes, scheme, heads, size, unit="B", label=f"page in {scheme}")
    whole = TOKENS * heads * size * bytes_per_element("bf16")
    return (whole / held).named(f"BF16 over {scheme}")


@claim("kv-quant-reduction")
def smaller_cache() -> Finding:
    """From FP8 to INT4, with a scale for each head of each token."""
    return Finding(
        cut("fp8_1x128").named("BF16 over FP8"),
        to=cut("int4_g128").named("BF16 over INT4"),
        why="A scale for each head of each token; without scales it is two and four. "
        f"Scales for 32 numbers, as llama.cpp has them, leave {cut('q8_0'):.3} for 8 "
        f"bits and {cut('q4_0'):.3} for 4.",
    )


def _step(dtype: str, account: str, batch: int = 1, chips: int = CHIPS) -> StepEnergy:
    return memory.decode_energy(
        MODEL, on=CHIP, dtype=dtype, tp=chips, account=account, batch=batch
    )


def energy_saved(account: str, batch: int = 1, chips: int = CHIPS) -> Quantity:
    """Share of a token's energy that FP8 saves over BF16."""
    wide, narrow = (_step(t, account, batch, chips) for t in ("bf16", "e4m3fn"))
    return (1 - narrow.total / wide.total).named(f"energy saved, {account}")


def power_saved(account: str, batch: int = 1, chips: int = CHIPS) -> Quantity:
    """Share of a chip's power that FP8 saves, each at the rate it reaches."""
    wide, narrow = (_step(t, account, batch, chips) for t in ("bf16", "e4m3fn"))
    return (1 - narrow.power / wide.power).named(f"power saved, {account}")


def saved_at_one_rate(account: str, batch: int = 1, chips: int = CHIPS) -> Quantity:
    """The same when FP8 serves no more tokens a second than BF16 does."""
    wide, narrow = (_step(t, account, batch, chips) for t in ("bf16", "e4m3fn"))
    idle = "constant power"
    saved = (wide.total - wide.parts[idle]) - (narrow.total - narrow.parts[idle])
    return (saved / wide.total).named(f"power saved at one rate, {account}")


@claim("fp8-power-saving")
def power() -> Finding:
    """Power of a decode step in BF16 and in FP8, at one rate of tokens."""
    low, high = saved_at_one_rate("circuit"), saved_at_one_rate("board")
    crowd = [
        saved_at_one_rate(account, SERVING_BATCH, SERVING_CHIPS)
        for account in ("circuit", "board")
    ]
    more = power_saved("board", SERVING_BATCH, SERVING_CHIPS)
    return Finding(
        low,
        to=high,
        why=f"{get('fp8-power-saving').claimed} of what, and doing what, is not said. "
        f"{models.get(MODEL).name} on H100s, by our accounts of circuits and of a "
        "board: at one rate of tokens power falls by the share computed, with "
        f"{SERVING_BATCH} sequences by {crowd[0]:.2 %} to {crowd[1]:.2 %}. Run as "
        f"fast as it can, FP8 spends {energy_saved('board'):.2 %} less energy on a "
        "token but needs half the time for it, and power does not fall at all "
        f"({power_saved('board'):.1 %} saved at batch one, {more:.2 %} at "
        f"{SERVING_BATCH}). To settle it: the measurement behind the number, with "
        "chip, model and batch, and whether watts or joules per token were compared.",
        verdict="open",
    )
