"""Section 4.5: Where does the score matrix go?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from stacklib import hardware, models
from stacklib.evidence import results
from stacklib.kernels.attention import exponent, witnesses
from stacklib.kernels.attention.count import io_count
from stacklib.kernels.schedule.attention_time import Attention, plan, predict
from stacklib.kernels.written import cubins
from stacklib.pages.figures_of import measured
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counted,
    counting,
    one_of,
    recorded,
)
from stacklib.quantity.constants import case
from stacklib.quantity.records import stored
from stacklib.roofline.work.moving import memory_time

if TYPE_CHECKING:
    from stacklib.kernels.attention.behind_l2 import Reread

DEVICE, MODEL, CHIPS = "h100_sxm", "llama-3-70b", 8
TOKENS, HEAD, TILE = case("context"), 128, 128
FA2_CAUSAL = "B-0227"  # FlashAttention-2 on an H100: 4,096 tokens, head 128, causal
TILE_BYTES = TILE * HEAD * 2
SMALL, FEW = 64, 4  # tiles of a small L2, and blocks at once on a small chip


# -- the prompt ------------------------------------------------------------------------


def size(field: str, words: str) -> Quantity:
    """A size of the model."""
    return models.get(MODEL).size(field, words)


def heads() -> Quantity:
    """Heads that one of the GPUs has."""
    chips = chosen(CHIPS, label="GPUs")
    return (size("heads", "heads") / chips).named("heads of a GPU")


def prompt_seconds(software: str, on: str, warp_level: bool = False) -> float:
    """The prompt's attention, all layers, on one of the GPUs."""
    model = models.get(MODEL)
    work = Attention(
        1,
        model.heads // CHIPS,
        model.kv_heads // CHIPS,
        TOKENS,
        TOKENS,
        model.head_dim,
        causal=True,
        warp_level=warp_level,
    )
    return model.layers * predict(plan(work, on, software)).time


def prompt(software: str, on: str = DEVICE, label: str = "", **how: Any) -> Quantity:
    """The same as a prediction of the attention model."""
    words = label or f"prompt's attention, {software}"
    cell = f"B/kernel/compute/16 bit/{software}"
    told = {"unit": "s", "label": words, "family": cell}
    return counted(prompt_seconds, software, on, **how, **told)


def naive() -> Quantity:
    """Three kernels, the scores written."""
    return prompt("naive", label="prompt's attention by three kernels")


def tiled() -> Quantity:
    """FlashAttention-2, which multiplies by the warp's instruction."""
    return prompt("library", label="prompt's attention in tiles", warp_level=True)


def crossing() -> Quantity:
    """What the scores alone take: four crossings at the printed bandwidth."""
    moved = 4 * heads() * matrix() * size("layers", "layers")
    return memory_time(moved, DEVICE).named("crossings")


def operations() -> Quantity:
    """FLOP of the prompt's attention on one GPU, half of them under the mask."""
    pairs = tokens() * tokens() / 2  # half under the mask
    each = 4 * one_of("FLOP") * size("head_dim", "head size")  # two products
    layers = size("layers", "layers")
    return (pairs * each * heads() * layers).named("FLOP of the prompt's attention")


def published() -> Quantity:
    """What FlashAttention-2 takes for as many FLOP at its published rate."""
    return (operations() / measured(FA2_CAUSAL)).named("at the published rate")


# -- one head --------------------------------------------------------------------------


def tokens(count: int = TOKENS) -> Quantity:
    """Tokens of the prompt."""
    return chosen(count, label="tokens")


def rows() -> Quantity:
    """Rows of a tile of queries."""
    return chosen(TILE, label="rows of a tile")


def operand() -> Quantity:
    """Bytes of a head's queries; keys, values and result have as many."""
    wide = size("head_dim", "head size")
    return (tokens() * wide * bytes_per_element("bf16")).named("one operand of a head")


def matrix() -> Quantity:
    """Bytes of the scores of one head."""
    each = bytes_per_element("bf16")
    return (tokens() * tokens() * each).named("scores of a head")


def unfused() -> Quantity:
    """What three kernels move at memory for one head, where each operand comes once."""
    return (4 * operand() + 4 * matrix()).named("three kernels at memory")


def asked() -> Quantity:
    """What they ask for: products in tiles ask for their operands as often as tiles."""
    again = 3 * passes() * operand() + operand()
    return (again + 4 * matrix()).named("three kernels")


def passes() -> Quantity:
    """Tiles of queries: passes over keys and values."""
    return (tokens() / rows()).named("tiles of queries")


def in_tiles() -> Quantity:
    """What tiles ask of memory for one head."""
    return (2 * operand() + 2 * passes() * operand()).named("tiles")


def saved() -> Quantity:
    """Three kernels over tiles, both by what they ask for."""
    return (asked() / in_tiles()).named("times fewer")


def at_memory() -> Quantity:
    """What tiles move at memory, where each operand comes once."""
    return (4 * operand()).named("tiles at memory")


def saved_at_memory() -> Quantity:
    """Three kernels over tiles, both by what memory moves."""
    return (unfused() / at_memory()).named("times fewer at memory")


def counted_bytes() -> Quantity:
    """The same by the room's closed form."""
    tiles = {"tile_q": TILE, "tile_k": TILE}
    sizes: dict[str, Any] = {"tokens": TOKENS, "head_dim": HEAD, **tiles}
    return counted(io_count, **sizes, take="bytes", unit="B", label="tiles")


@counting("power of the head size")
def exponent_of_head() -> float:
    """The power of the head size by which the bytes grow, tiles as large as fit."""
    kv = []
    for wide in (HEAD, 2 * HEAD):
        rows_ = int(exponent.tile_rows(wide, int(chip().si) // 2))
        found = io_count(tokens=2 * TOKENS, head_dim=wide, tile_q=rows_, tile_k=rows_)
        kv.append(found.kv)
    return math.log2(kv[1] / kv[0])


def chip() -> Quantity:
    """Shared memory of an SM."""
    shared: Quantity = hardware.get(DEVICE).shared_per_unit.across(1)
    return shared.named("shared memory of an SM").to("B")


def fitting(*, as_rows: bool) -> Quantity:
    """Rows of a tile that shared memory holds, or its numbers taken for rows."""
    held = (chip() / bytes_per_element("bf16")).named("numbers that fit")
    if as_rows:
        return (held / 4).named("numbers for rows")
    return counted(exponent.tile_rows, HEAD, held, label="rows that fit")


# -- who is asked ----------------------------------------------------------------------

ASKED = witnesses.Tiling(256, 64, 128, 64)
# `counted_loads` around a launch of `flash_triton.forward` with these tiles; the tests
# of the room run it again in Triton's interpreter.
LOADS = "stacklib/pages/kernels/attention/interpreted.json"
INTERPRETED = {name: int(stored(LOADS, "loads", name)) for name in "kv"}
WIDTHS = {"compiled code": 2}


@cache
def heard() -> tuple[witnesses.Witness, ...]:
    """Five witnesses of one tiling."""
    code = cubins.kv_bytes("flash 64", queries=ASKED.tokens, keys=ASKED.tokens)
    return (
        witnesses.formula(ASKED),
        *witnesses.measured(ASKED),
        witnesses.Witness("interpreter", **INTERPRETED),
        witnesses.Witness("compiled code", code // 2, code - code // 2),
    )


COUNTS = {
    "formula": "tokens, tiles",
    "recorded loads": "NumPy slices that are read",
    "SIMT sectors": "sectors that warps touch",
    "tile sectors": "sectors that tiles touch",
    "interpreter": "addresses that Triton loads",
    "compiled code": "copies in the loop of the cubin",
}


def testimony() -> list[dict[str, Any]]:
    """Rows of the table: what each counted, and how often each key was asked for."""
    half = bytes_per_element("bf16")
    found = []
    for one in heard():
        width = chosen(WIDTHS.get(one.name, witnesses.WIDTH), "B", label="of a number")
        asked = _asked(one.name)
        found.append(
            {
                "witness": one.name,
                "counts": COUNTS[one.name],
                "bytes": asked,
                "of a number": width,
                "in bf16": (asked / width * half).named(f"K and V, {one.name}"),
            }
        )
    return found


def _asked(name: str) -> Quantity:
    if name == "interpreter":
        k, v = (recorded(LOADS, "loads", one, unit="B") for one in INTERPRETED)
        return (k + v).named("K and V, interpreter")
    return counted(asked_of, name, unit="B", label=f"K and V, {name}")


def asked_of(name: str) -> int:
    """Bytes of K and V, as one witness counts them."""
    return next(one.kv for one in heard() if one.name == name)


# -- behind an L2 ----------------------------------------------------------------------


@cache
def reread(small: bool) -> Reread:
    """A GPU's heads through an H100's L2, or eight of their own through a small one."""
    from stacklib.kernels.attention.behind_l2 import read_once
    from stacklib.memory.cache.attention_trace import TiledAttention
    from stacklib.memory.cache.cache import Cache
    from stacklib.memory.cache.l2 import l2_cache

    if small:
        cache_ = Cache(SMALL * TILE_BYTES, 16, TILE_BYTES)
        return read_once(TiledAttention(8, 8, TOKENS, TOKENS), cache_, at_once=FEW)
    cache_ = l2_cache(DEVICE, line=TILE_BYTES)
    units = int(hardware.get(DEVICE).compute_units.si)
    return read_once(TiledAttention(8, 1, TOKENS, TOKENS), cache_, at_once=units)


def through(take: str, *, small: bool = False) -> Quantity:
    """What blocks asked for, what came from memory, or how often each byte did."""
    words = f"{take.replace('_', ' ')}, {'a small L2' if small else 'the L2'}"
    unit = "" if take.startswith("times") else "B"
    return counted(reread, small, take=take, unit=unit, label=words)


# -- online softmax --------------------------------------------------------------------


def steps(
    scores: Sequence[float], values: Sequence[float], tile: int
) -> list[dict[str, float]]:
    """Maximum, factor, sum and output of a row after each tile of keys."""
    most, total, out = -math.inf, 0.0, 0.0
    found = []
    for left in range(0, len(scores), tile):
        part = scores[left : left + tile]
        new = max(most, *part)
        factor = math.exp(most - new)
        weights = [math.exp(s - new) for s in part]
        total = total * factor + sum(weights)
        own = zip(weights, values[left : left + tile], strict=True)
        out = out * factor + sum(w * v for w, v in own)
        most = new
        row = {"max": most, "factor": factor, "sum": total, "weighted": out}
        found.append({**row, "output": out / total})
    return found


# -- measured on the book's machine ----------------------------------------------------


FORWARD = "flash_attention_numpy"


def growth(which: str, count: int = TOKENS) -> Quantity:
    """Memory beyond inputs and result that a run took."""
    name = results.by_kind(FORWARD)[-1]
    runs = [(r["which"], r["tokens"]) for r in results.need(name)["memory"]]
    place = f"memory/{runs.index((which, count))}"
    label = f"memory, {which}, {count:,} tokens"
    return recorded(results.file(name), place, "growth_bytes", unit="B", label=label)


def over_peer(kind: str, name: str = FORWARD) -> Quantity:
    """Time over that of torch's own kernel in C++, one thread, a kind of processor."""
    name = f"{name}_{kind}"
    row, label = results.need(name)["rows"][0]["id"], f"{name} over torch's"
    return recorded(results.file(name), row, "time_over_peer", label=label)
