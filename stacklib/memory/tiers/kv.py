"""The KV cache on flash: what a token reads, how many drives feed it, their life.

Dense attention reads the whole cache for every token. Sparse attention reads the keys
and values of the tokens that an indexer picked, and a drive delivers whole pages, so
that what is read depends on how many picked tokens share a page.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from stacklib.models import LanguageModel
from stacklib.quantity import Quantity, ceil, chosen, counted
from stacklib.quantity.bounds import whole
from stacklib.roofline import decode_step
from stacklib.roofline.bound import littles_law
from stacklib.roofline.work.fit import model_of
from stacklib.roofline.work.work import sized

from .parts import Drive, drive


def pages_read(tokens: int, picked: int, per_page: int, block: int = 1) -> float:
    """Pages that hold at least one of the picked tokens, on average.

    Tokens are picked in blocks that begin at multiples of their size; a last one that
    is not full is not picked unless all tokens are. Every choice of k among the n
    blocks is as likely as another, so a page that m of them reach into stays unread
    with the chance that none of these is picked: C(n - m, k) / C(n, k).
    """
    whole(tokens=tokens, picked=picked, per_page=per_page, block=block)
    if picked > tokens:
        raise ValueError(f"picked = {picked} of {tokens} tokens")
    if picked == tokens:
        return float(math.ceil(tokens / per_page))
    if picked % block:
        raise ValueError(f"block = {block} does not divide the {picked} picked")
    blocks, chosen = tokens // block, picked // block

    def unread(reach: int) -> float:
        if chosen > blocks - reach:
            return 0.0
        # C(n - m, k) / C(n, k) = product of (n - k - i) / (n - i) over i < m
        return math.prod(
            (blocks - chosen - i) / (blocks - i) for i in range(min(reach, blocks))
        )

    reaches = _reaches(blocks, per_page, block)
    return sum(count * (1 - unread(m)) for m, count in reaches.items())


def _reaches(blocks: int, per_page: int, block: int) -> Counter[int]:
    """How many pages there are that so many blocks reach into."""

    def reach(page: int) -> int:
        first, last = page * per_page, (page + 1) * per_page - 1
        return min(last // block, blocks - 1) - first // block + 1

    # The pattern repeats after as many pages as begin with a block.
    period = block // math.gcd(block, per_page)
    whole_pages = blocks * block // per_page
    times, rest = divmod(whole_pages, period)
    found = Counter(
        {m: n * times for m, n in Counter(map(reach, range(period))).items()}
    )
    found.update(reach(whole_pages - 1 - i) for i in range(rest))
    if blocks * block % per_page:
        found[reach(whole_pages)] += 1
    return found


@dataclass(frozen=True, slots=True)
class KvDemand:
    """What one token of one sequence asks of the drives."""

    wanted: Quantity  # bytes of keys and values that the attention uses
    read: Quantity  # bytes of the pages that hold them
    pages: Quantity  # how many, over all layers
    stored: Quantity  # bytes of pages that the whole cache takes
    written: Quantity  # bytes that one new token adds
    layers: int  # that attention is done in

    @property
    def amplification(self) -> Quantity:
        """Bytes read for every byte wanted."""
        return (self.read / self.wanted).named("read amplification")


def kv_demand(
    model: str | LanguageModel,
    *,
    context: int,
    top_k: int | None = None,
    block: int = 1,
    dtype: str = "bf16",
    page: Quantity | None = None,
) -> KvDemand:
    """Pages that one token reads, dense or sparse.

    The keys and values of one token and layer lie together (all heads); as many
    tokens share a page as fit whole, and a token larger than a page takes several.

    Parameters
    ----------
    model : str or LanguageModel
        With a cache that grows evenly.
    top_k : int, optional
        Tokens the attention picks in each layer; all without it.
    block : int
        Neighbouring tokens picked together, 1 when each stands alone; it divides
        ``top_k``.
    dtype : str
        Format of the cache.
    page : Quantity, optional
        Bytes a read brings, 4 KiB by default.

    Raises
    ------
    ValueError
        For counts that make no sense, or a model whose cache does not grow evenly.
    """
    shape = model_of(model)
    whole(context=context, block=block, top_k=context if top_k is None else top_k)
    if not shape.grows:
        raise ValueError(f"{shape.key}: its KV cache does not grow evenly")
    picked = context if top_k is None else min(top_k, context)
    if block > picked or (top_k and picked % block):
        raise ValueError(f"block = {block} does not divide the {picked} picked")
    page = page or drive("micron_9550").page
    token = shape.kv_bytes_per_token(dtype) / shape.layers
    pages_each, per_page = math.ceil(token.si / page.si), int(page.si // token.si)
    layers, words = shape.size("layers", "layers"), "pages a layer"
    wanted, kept = (
        chosen(picked, label="tokens picked"),
        chosen(context, label="tokens"),
    )
    if per_page >= 1:
        each = counted(pages_read, context, picked, per_page, block, label=words)
        held = ceil(kept / per_page).named(words)
    else:
        each, held = ((n * pages_each).named(words) for n in (wanted, kept))
    pages = (each * layers).named("pages of a token")
    return KvDemand(
        (wanted * shape.kv_bytes_per_token(dtype)).named("KV wanted"),
        (pages * page).named("KV read"),
        pages,
        held * layers * page,
        shape.kv_bytes_per_token(dtype),
        shape.layers,
    )


# -- the drives ----------------------------------------------------------------


def drive_depth(of: Drive) -> Quantity:
    """Reads a drive has in flight at its full rate, by Little's law."""
    return littles_law.concurrency(of.latency, of.reads).named("reads in flight")


def reads_per_second(of: Drive, depth: int) -> Quantity:
    """Random reads a second with so many in flight, at most the drive's rate."""
    waiting = sized(depth, "depth")
    return littles_law.throughput(waiting, of.latency, of.reads)


def drives_needed(
    demand: KvDemand,
    of: Drive,
    *,
    tokens_per_second: Quantity | float,
    sequences: int = 1,
) -> dict[str, float]:
    """Drives by each of the three limits; the largest counts."""
    rate = float(getattr(tokens_per_second, "si", tokens_per_second))
    if not 0 < rate < math.inf:
        raise ValueError(f"tokens_per_second = {tokens_per_second}: above zero")
    whole(sequences=sequences)
    return {
        "reads": rate * demand.pages.si / of.reads.si,
        "bandwidth": rate * demand.read.si / of.read.si,
        "capacity": sequences * demand.stored.si / of.capacity.si,
    }


def step_time(
    compute: float,
    layers: int,
    pages: float,
    rate: float,
    latency: float,
    *,
    ahead: bool,
) -> float:
    """Seconds of a decode step whose every layer reads its pages from the drives."""
    if layers < 1 or rate <= 0 or min(compute, pages, latency) < 0:
        raise ValueError(
            f"layers = {layers}, rate = {rate}, compute = {compute}, pages = {pages}"
        )
    each = compute / layers
    fetch = latency + pages / rate if pages else 0.0
    if not ahead:
        return layers * (each + fetch)
    # Reading ahead: something must guess a layer early which pages it will want.
    return fetch + (layers - 1) * max(each, fetch) + each


def layer_time(
    model: str | LanguageModel, *, on: str, tp: int = 1, dtype: str = "bf16"
) -> Quantity:
    """Time in which one layer's weights are read, with no cache in memory."""
    shape = model_of(model)
    layers = shape.size("layers", "layers")
    step = decode_step(shape, on=on, dtype=dtype, tp=tp, context=0)
    return (step.time / layers).named("time of a layer")


def lifetime(
    of: Drive, *, written: Quantity, drives: int, years: float = 5.0
) -> Quantity:
    """Years until so many drives have been written as often as the warranty allows."""
    count = sized(drives, "drives")
    if written.si <= 0:
        raise ValueError(f"written = {written}: above zero")
    term = chosen(years, "year", label="warranty")
    allowed = of.capacity * of.writes_per_day * term * count
    return (allowed / written).named("time to wear out")
