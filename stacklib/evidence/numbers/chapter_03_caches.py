"""Numbers of the section on caches: what stays near, and what an order saves."""

from __future__ import annotations

from functools import cache
from math import sqrt
from statistics import median

from stacklib import hardware, models
from stacklib.memory.cache.attention_trace import TiledAttention
from stacklib.memory.cache.replacement import misses
from stacklib.memory.cache.strides import column_fills, fullest_set
from stacklib.memory.cache.traces import TRACES
from stacklib.memory.cache.waves import L2_WAYS, Reads, wave_reads
from stacklib.memory.tile.tiling import TiledMatmul
from stacklib.quantity import Quantity, Source

from .. import results
from .registry import number

DEVICE, MODEL = "h100-sxm", "llama-3-70b"
TOKENS, TILE = 16000, 128
SIDE, STEP = 8192, 64  # of the product, and of its steps
GROUPS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64)
ROOM = 64  # lines of the cache that a loop overruns
ROUNDS = 10
LENGTH, HELD = 20_000, 300  # of the traces, and the keys that fit
ANOMALY = (1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5)
FP32 = 4
L1 = {"line": 64, "sets": 64, "ways": 12}  # the first cache of the book's machine
L2 = {"line": 64, "sets": 1024, "ways": 16}  # and its second
POWER, PADDED = 1024, 1040  # sides of the squares that chapter 1 transposed


def _assumed(value: float, unit: str, label: str, where: str = "") -> Quantity:
    """A stated assumption, or a count that ``where`` says who made."""
    source = Source("this section", where, "2026-11-22", "secondary") if where else None
    return Quantity(value, unit, label=label, kind="assumption", source=source)


def _chosen(value: float, unit: str, label: str) -> Quantity:
    return _assumed(value, unit, label, "a size that was chosen")


# -- a loop, and an anomaly -----------------------------------------------------------


@cache
def loop() -> list[int]:
    """Lines of a loop that is one line longer than the cache has room for."""
    return ROUNDS * list(range(ROOM + 1))


def _hits(policy: str) -> Quantity:
    missed = misses(loop(), ROOM, policy)
    where = "counted by stacklib.memory.misses"
    hits = _assumed(len(loop()) - missed, "1", f"hits of {policy}", where)
    return hits / _assumed(len(loop()), "1", "accesses")


@number("caches.room", evidence="spec")
def room() -> Quantity:
    """Lines that the cache of the loop has room for."""
    return _chosen(ROOM, "1", "lines that fit")


@number("caches.loop", evidence="spec")
def loop_length() -> Quantity:
    """Lines of the loop that overruns it."""
    return _chosen(ROOM + 1, "1", "lines of the loop")


@number("caches.loop_lru", unit="%", evidence="simulated")
def loop_lru() -> Quantity:
    """Hit rate of LRU in that loop."""
    return _hits("lru")


@number("caches.loop_belady", unit="%", digits=2, evidence="simulated")
def loop_belady() -> Quantity:
    """Hit rate in that loop of a policy that knows the future."""
    return _hits("belady")


def _anomaly(room: int) -> Quantity:
    label = f"misses of FIFO with room for {room}"
    where = "counted by stacklib.memory.misses"
    return _assumed(misses(ANOMALY, room, "fifo"), "1", label, where)


@number("caches.anomaly_small", evidence="simulated")
def anomaly_small() -> Quantity:
    """Misses of FIFO on Belady's trace with room for three."""
    return _anomaly(3)


@number("caches.anomaly_large", evidence="simulated")
def anomaly_large() -> Quantity:
    """Misses of FIFO on the same trace with room for four."""
    return _anomaly(4)


# -- a transpose, through the sets ----------------------------------------------------


def _fills(side: int) -> Quantity:
    count = column_fills(side, FP32, **L2)
    where = "stacklib.memory.cache.strides.column_fills"
    return _assumed(count, "1", f"L2 fills an element, side {side:,}", where)


@number("caches.power", digits=4, evidence="spec")
def power() -> Quantity:
    """Side of the square whose transpose chapter 1 found slow."""
    return _chosen(POWER, "1", "rows and columns")


@number("caches.padded", digits=4, evidence="spec")
def padded() -> Quantity:
    """Side of the larger square that was faster."""
    return _chosen(PADDED, "1", "rows and columns")


@number("caches.l2_sets", digits=4, evidence="spec")
def l2_sets() -> Quantity:
    """Sets of the second cache of the book's machine, as its system reports them."""
    return _assumed(L2["sets"], "1", "sets", "what the system reports")


@number("caches.l2_ways", evidence="spec")
def l2_ways() -> Quantity:
    """Lines of a set of that cache, as its system reports them."""
    return _assumed(L2["ways"], "1", "ways", "what the system reports")


@number("caches.column_sets")
def column_sets() -> Quantity:
    """Sets of that cache that a column of the first square reaches."""
    full = fullest_set(POWER, POWER * FP32, L2["line"], L2["sets"])
    lines = _chosen(POWER, "1", "lines of a column")
    return lines / _assumed(
        full, "1", "lines in a set", "stacklib.memory.cache.strides.fullest_set"
    )


@number("caches.column_room")
def column_room() -> Quantity:
    """Lines of a column that those sets hold."""
    return column_sets() * l2_ways()


@number("caches.fills_power")
def fills_power() -> Quantity:
    """Lines the second cache fills for an element of the first square."""
    return _fills(POWER)


@number("caches.fills_padded")
def fills_padded() -> Quantity:
    """Lines the second cache fills for an element of the larger square."""
    return _fills(PADDED)


@number("caches.fills_ratio", digits=2)
def fills_ratio() -> Quantity:
    """How many times as many lines the first square fills an element."""
    return _fills(POWER) / _fills(PADDED)


# -- who leaves -----------------------------------------------------------------------


@cache
def _missed(trace: str, policy: str) -> Quantity:
    count = misses(TRACES[trace](LENGTH), HELD, policy)
    where = "counted by stacklib.memory.misses"
    return _assumed(count, "1", f"misses of {policy}", where) / _assumed(
        LENGTH, "1", "accesses"
    )


@number("caches.held", evidence="spec")
def held() -> Quantity:
    """Keys that fit the caches that the policies are tried in."""
    return _chosen(HELD, "1", "keys that fit")


@number("caches.popular_lru", unit="%", digits=2, evidence="simulated")
def popular_lru() -> Quantity:
    """Misses of LRU on popular keys."""
    return _missed("popular keys", "lru")


@number("caches.popular_sieve", unit="%", digits=2, evidence="simulated")
def popular_sieve() -> Quantity:
    """Misses of SIEVE on popular keys."""
    return _missed("popular keys", "sieve")


@number("caches.talk_lru", unit="%", digits=2, evidence="simulated")
def talk_lru() -> Quantity:
    """Misses of LRU on the blocks of conversations."""
    return _missed("conversations", "lru")


@number("caches.talk_sieve", unit="%", digits=2, evidence="simulated")
def talk_sieve() -> Quantity:
    """Misses of SIEVE on the blocks of conversations."""
    return _missed("conversations", "sieve")


@number("caches.talk_belady", unit="%", digits=2, evidence="simulated")
def talk_belady() -> Quantity:
    """Least misses of any policy on the blocks of conversations."""
    return _missed("conversations", "belady")


# -- attention ------------------------------------------------------------------------


def attention(causal: bool = False) -> TiledAttention:
    """A layer of the model over the prompt of this section."""
    heads, kv_heads, width = (int(q.si) for q in _layer())
    return TiledAttention(heads, kv_heads, TOKENS, TOKENS, width, TILE, TILE,
                          causal=causal)  # fmt: skip


def _layer() -> tuple[Quantity, Quantity, Quantity]:
    """Heads, KV heads and numbers of a head, from the config of the model."""
    first = models.get(MODEL).kinds[0].attention
    names = ("heads", "kv_heads", "head_dim")
    heads, kv_heads, width = (
        _assumed(getattr(first, name), "1", name, f"config of {MODEL}")
        for name in names
    )
    return heads, kv_heads, width


def units() -> int:
    """Blocks that run at once: one on every compute unit."""
    return int(hardware.get(DEVICE).compute_units.si)


@cache
def attention_reads(section: int, share: float = 1.0) -> Reads:
    """Reads of the layer with ``section`` heads side by side."""
    capacity = share * hardware.get(DEVICE).l2_capacity.si
    return attention().reads(at_once=units(), capacity=capacity, section=section)


def _bytes(value: float, label: str) -> Quantity:
    return _assumed(
        value, "B", label, "stacklib.memory.cache.attention_trace.TiledAttention"
    )


@number("caches.tokens", digits=4, evidence="spec")
def tokens() -> Quantity:
    """Tokens of the prompt that attention works on here."""
    return _chosen(TOKENS, "1", "tokens")


@number("caches.tile", evidence="spec")
def tile() -> Quantity:
    """Queries of a block, and keys of a step."""
    return _chosen(TILE, "1", "rows of a tile")


@number("caches.blocks", digits=4)
def blocks() -> Quantity:
    """Blocks of one layer's attention over the prompt."""
    return _layer()[0] * tokens() / tile()


@number("caches.units", evidence="spec")
def at_once() -> Quantity:
    """Compute units of the chip, each with one block."""
    return hardware.get(DEVICE).compute_units


@number("caches.l2", unit="MiB", evidence="spec")
def l2() -> Quantity:
    """L2 of an H100."""
    return hardware.get(DEVICE).l2_capacity


@number("caches.assumed_ways", evidence="spec")
def assumed_ways() -> Quantity:
    """Lines of a set of a GPU's L2, which no vendor prints."""
    return _assumed(L2_WAYS, "1", "ways", "an assumption of this section")


@number("caches.asked", unit="GB")
def asked() -> Quantity:
    """Bytes that all blocks of the layer read."""
    return _bytes(attention().bytes_read, "read by all blocks")


@number("caches.once", unit="MB")
def once() -> Quantity:
    """Queries, keys and values of the layer, each once."""
    return _bytes(attention().bytes_once, "queries, keys and values")


@number("caches.reuse", digits=2)
def reuse() -> Quantity:
    """How many times each of those bytes is read."""
    return asked() / once()


@number("caches.kv_group", unit="MiB", digits=2)
def kv_group() -> Quantity:
    """Keys and values that a group of heads shares."""
    return _bytes(attention().kv_bytes, "keys and values of a group")


@number("caches.kv_all", unit="MiB", digits=2)
def kv_all() -> Quantity:
    """Keys and values of all heads."""
    return kv_group() * _layer()[1]


def _from_memory(section: int, words: str) -> Quantity:
    return _bytes(attention_reads(section).missed, f"read from memory, {words}")


@number("caches.moved_group", unit="MB")
def moved_group() -> Quantity:
    """Bytes from memory when the heads of a group start side by side."""
    return _from_memory(attention().group, "a group side by side")


@number("caches.moved_heads", unit="GB")
def moved_heads() -> Quantity:
    """Bytes from memory when all heads start side by side."""
    return _from_memory(attention().heads, "all heads side by side")


@number("caches.order_ratio", digits=2)
def order_ratio() -> Quantity:
    """How many times as many bytes the second order reads from memory."""
    return moved_heads() / moved_group()


def _hit(moved: Quantity) -> Quantity:
    return (1 - moved / asked()).named("hit rate of the L2")


@number("caches.hits_group", unit="%", digits=3)
def hits_group() -> Quantity:
    """Hit rate of the L2 with a group of heads side by side."""
    return _hit(moved_group())


@number("caches.hits_heads", unit="%", digits=3)
def hits_heads() -> Quantity:
    """Hit rate of the L2 with all heads side by side."""
    return _hit(moved_heads())


def _intensity(m: int, n: int) -> Quantity:
    """FLOP a byte that a tile of m rows does with what it reads, in bf16."""
    each = Quantity(2, "B", label="bytes of a bf16 number")
    per_pair = Quantity(2, "FLOP", label="FLOP of a multiply-add")
    rows = _chosen(m, "1", "rows of the tile")
    columns = _chosen(n, "1", "columns of the tile")
    return (per_pair * rows * columns / ((rows + columns) * each)).named("FLOP a byte")


def _needed(intensity: Quantity) -> Quantity:
    chip = hardware.get(DEVICE)
    return (1 - chip.memory_bandwidth * intensity / chip.peak("bf16")).named(
        "hit rate at which memory keeps up"
    )


def _attention_intensity() -> Quantity:
    # A step reads a tile of keys and one of values, and multiplies by both.
    each = Quantity(2, "B", label="bytes of a bf16 number")
    per_pair = Quantity(2, "FLOP", label="FLOP of a multiply-add")
    return (tile() * per_pair / each).named("FLOP a byte")


@number("caches.attention_asks", unit="TB/s")
def attention_asks() -> Quantity:
    """Bytes a second that attention at full rate reads from the L2."""
    return hardware.get(DEVICE).peak("bf16") / _attention_intensity()


@number("caches.attention_needs", unit="%", digits=2)
def attention_needs() -> Quantity:
    """Hit rate of the L2 from which memory keeps up with attention."""
    return _needed(_attention_intensity())


# -- products -------------------------------------------------------------------------


def product() -> TiledMatmul:
    """The square product of this section."""
    return TiledMatmul(SIDE, SIDE, SIDE, TILE, TILE, STEP)


@cache
def product_reads(group: int) -> Reads:
    """Reads of the product with bands of ``group`` rows of blocks."""
    plan = product()
    order = ((("x", i), ("w", j)) for i, j in plan.order("grouped", group))
    band = TILE * plan.k * plan.width
    capacity = hardware.get(DEVICE).l2_capacity.si
    return wave_reads(order, lambda _: float(band), at_once=units(), capacity=capacity)


def _product_hits(group: int) -> Quantity:
    rate, where = product_reads(group).hit_rate, "stacklib.memory.cache.waves"
    return _assumed(rate, "1", f"hit rate of the L2, bands of {group}", where)


@cache
def best_group() -> int:
    """Rows of a band with the highest hit rate."""
    return max(GROUPS, key=lambda g: product_reads(g).hit_rate)


@number("caches.side", digits=4, evidence="spec")
def side() -> Quantity:
    """Rows and columns of the product."""
    return _chosen(SIDE, "1", "rows and columns")


@number("caches.row_hits", unit="%", digits=2)
def row_hits() -> Quantity:
    """Hit rate of the L2 when the blocks of the product start row by row."""
    return _product_hits(1)


@number("caches.band", evidence="predicted")
def band() -> Quantity:
    """Rows of blocks in the band with the highest hit rate."""
    return _assumed(best_group(), "1", "rows of a band", "searched over GROUPS")


@number("caches.band_hits", unit="%", digits=2)
def band_hits() -> Quantity:
    """Hit rate of the L2 with that band."""
    return _product_hits(best_group())


@number("caches.band_gain", digits=2)
def band_gain() -> Quantity:
    """How many times fewer bytes of the product come from memory with that band."""
    return (1 - row_hits()) / (1 - band_hits())


@number("caches.band_root", digits=2)
def band_root() -> Quantity:
    """Side of a square of as many blocks as run at once."""
    where = "square root of the compute units"
    return _assumed(sqrt(at_once().si), "1", "blocks on a side", where)


@number("caches.work_ratio", digits=2)
def work_ratio() -> Quantity:
    """Work a byte of a product's tiles, over that of attention's."""
    return _intensity(TILE, TILE) / _attention_intensity()


@number("caches.product_needs", unit="%", digits=2)
def product_needs() -> Quantity:
    """Hit rate of the L2 from which memory keeps up with the product."""
    return _needed(_intensity(TILE, TILE))


@number("caches.product_asks", unit="TB/s")
def product_asks() -> Quantity:
    """Bytes a second that the product at full rate reads from the L2."""
    return hardware.get(DEVICE).peak("bf16") / _intensity(TILE, TILE)


# -- the simulator itself -------------------------------------------------------------


def _peer(how: str) -> Quantity:
    found = results.load("cache")
    if found is None:
        raise results.ResultError("cache: not measured; run `benchmarks/cache.py`")
    times = {row["id"]: median(row["times_s"]) for row in found["rows"]}
    names = {row["trace"] for row in found["rows"]}
    ratio = min(times[f"{n}-{how}"] / times[f"{n}-stacklib"] for n in names)
    source = Source("benchmarks/results/cache.json", found["device"], found["date"],
                    "measured")  # fmt: skip
    return Quantity(ratio, "1", label="times the speed", source=source, kind="measured")


@number("caches.peer", digits=2, evidence="measured")
def peer() -> Quantity:
    """Least speed over pycachesim's, both given the same array of addresses."""
    return _peer("pycachesim")


@number("caches.peer_listed", digits=2, evidence="measured")
def peer_listed() -> Quantity:
    """The same where pycachesim is given the list it needs, made beforehand."""
    return _peer("pycachesim-listed")
