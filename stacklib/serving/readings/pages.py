"""The KV cache as engines cut it up: bytes a layer, layers a group, tokens a block.

vLLM gives every group of layers the same bytes a block (``kv_cache_utils.py``, 0.10 to
0.19): layers alike share one table, and where kinds differ the smallest kind sets how
many layers a group has. A recurrent state takes one page, so that the attention's block
grows until its page holds a state, and the state's page is padded to it. SGLang counts
tokens, llama.cpp cells; neither has blocks of several kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib.models import LanguageModel
from stacklib.models.block import AnyAttention
from stacklib.models.compressed import CompressedAttention
from stacklib.models.parts import Attention, LatentAttention, Skipped
from stacklib.models.recurrent import Recurrent
from stacklib.models.weights.mixtures import cache_number
from stacklib.quantity.bounds import whole

BLOCK = 16  # tokens, vLLM's own on CUDA
FULLER = 1.5  # kinds nearer in size than this make groups as large as the larger
DELTA, HALF = 4, 2  # bytes of a number: of a delta rule's state, of all other states


class NotModelled(ValueError):
    """A cache whose layout in this engine is not described here."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Layers with caches alike, as one chip keeps them.

    - ``per_token``: bytes a token leaves in one layer
    - ``keys``: those of them that are keys
    - ``window``: tokens that are kept at most, 0 for all
    - ``state``: bytes of one sequence in one layer, whatever its length
    - ``block``: tokens a block
    """

    kind: str
    count: int
    per_token: int = 0
    keys: int = 0
    window: int = 0
    state: int = 0
    block: int = BLOCK

    @property
    def page(self) -> int:
        """Bytes of one block in one layer."""
        return self.state or self.block * self.per_token

    def blocks(
        self, tokens: int, chunk: int, local: bool = False, states: int = 1
    ) -> int:
        """Blocks of one sequence at most, while prompts pass in chunks.

        - ``local``: whether the window is a chunk of the text that starts anew
        - ``states``: kept of a sequence: two where prefixes are cached
        """
        if self.state:
            return states
        if not self.window:
            return -(-tokens // self.block)
        kept = min(self.window - (not local) + chunk, tokens)
        return -(-kept // self.block) + (not local)


@dataclass(frozen=True, slots=True)
class Pages:
    """One pool of blocks: groups of layers, each with tables of its own.

    - ``bytes``: of a block, over all layers of a group
    - ``groups``: kinds of layer, with how many groups each makes
    """

    bytes: int
    groups: tuple[tuple[Layers, int], ...]

    @property
    def tables(self) -> int:
        """Tables of a sequence."""
        return sum(count for _, count in self.groups)

    @property
    def block(self) -> int:
        """Tokens of the smallest block of a cache that grows."""
        return min(layers.block for layers, _ in self.groups if not layers.state)

    def blocks(self, memory: float) -> int:
        """Blocks in so many bytes of a chip."""
        return max(int(memory // self.bytes), 0)

    def tokens(self, blocks: int) -> int:
        """Tokens, as the engine counts them: each of them in every table."""
        return blocks // self.tables * self.block

    def needed(
        self, tokens: int, chunk: int, local: bool = False, states: int = 1
    ) -> int:
        """Blocks of one sequence of so many tokens, at most; see ``Layers.blocks``."""
        asked = (tokens, chunk, local, states)
        return sum(tables * one.blocks(*asked) for one, tables in self.groups)


# -- layers ----------------------------------------------------------------------------


def layers_of(
    model: LanguageModel,
    kv_dtype: str = "bf16",
    tp: int = 1,
    *,
    widths: tuple[int, int] | None = None,
    drafted: int = 0,
) -> tuple[Layers, ...]:
    """The kinds of cache of a model on one of ``tp`` chips, layers alike together.

    - ``widths``: bytes of a number of the convolution and of the state; by default as
      vLLM keeps them, 2 and, of a delta rule, 4
    - ``drafted``: tokens a draft proposes, by which a convolution's window is longer
    """
    whole(tp=tp)
    number = cache_number(kv_dtype).si
    found: dict[Layers, int] = {}
    for place, block in enumerate(model.kinds):
        if isinstance(block.attention, Skipped):
            continue
        one = _one(block.attention, number, tp, widths, drafted, model.key)
        if one.page:
            found[one] = found.get(one, 0) + model.count(place)
    return tuple(replace(one, count=count) for one, count in found.items())


def _one(
    a: AnyAttention,
    number: float,
    tp: int,
    widths: tuple[int, int] | None,
    drafted: int,
    key: str,
) -> Layers:
    if isinstance(a, Recurrent):
        inputs, width = widths or (HALF, DELTA if "delta" in a.name else HALF)
        state = _shared(a.heads, tp, key) * a.key_dim * a.value_dim * width
        state += a.channels // tp * (a.kernel - 1 + drafted) * inputs
        return Layers(a.name, 0, state=state)
    chosen = getattr(a, "indexer", None) or getattr(a, "selected", 0)
    if isinstance(a, CompressedAttention) or chosen:
        raise NotModelled(
            f"{key}: {a.kind} keeps an index or compressed entries beside its cache; "
            "how engines lay those out is not described here"
        )
    if isinstance(a, LatentAttention):
        wide = _bytes(a.per_token * number)
        return Layers(a.kind, 0, wide, wide)
    assert isinstance(a, Attention)  # no other kind is left
    heads = _shared(a.kv_heads, tp, key)
    wide = _bytes(a.per_token // a.kv_heads * heads * number)
    keys = _bytes(heads * a.head_dim * number) if wide else 0
    return Layers(a.kind, 0, wide, keys, window=a.window)


def _bytes(size: float) -> int:
    if size % 1:
        raise NotModelled(f"{size} B a token and layer: blocks hold whole bytes")
    return int(size)


def _shared(heads: int, tp: int, key: str) -> int:
    """Heads on one chip; each keeps a copy where there are more chips than heads."""
    if heads % tp and tp % heads:
        raise ValueError(f"tp = {tp} does not share out the {heads} heads of {key}")
    return max(heads // tp, 1)


# -- vLLM ------------------------------------------------------------------------------


def pages_of(
    layers: tuple[Layers, ...], block: int = BLOCK, *, hybrid: bool = True
) -> Pages:
    """How vLLM cuts one chip's cache into blocks.

    - ``block``: tokens a block, as asked for
    - ``hybrid``: whether windows get tables of their own
    """
    whole(block=block)
    if not hybrid:
        layers = _same([replace(one, window=0) for one in layers])
    growing = [one for one in layers if not one.state]
    if not growing:
        raise NotModelled("no layer has a cache that grows: there are no blocks")
    state = max((one.state for one in layers), default=0)
    if state:
        least = min(one.per_token for one in growing)
        block = max(block, 16 * -(-state // (16 * least)))
    cut = [replace(one, block=block) for one in layers]
    if len({one.window for one in growing}) == 1 and not state:
        whole_block = sum(one.count * one.page for one in cut)
        return Pages(whole_block, ((_largest(cut), 1),))
    page = max(one.page for one in cut if not one.state)
    cut = [_stretched(one, page) for one in cut]
    sizes = [one.count for one in cut]
    size = max(sizes) if max(sizes) < FULLER * min(sizes) else min(sizes)
    return Pages(size * page, tuple((one, -(-one.count // size)) for one in cut))


def _same(layers: list[Layers]) -> tuple[Layers, ...]:
    counts: dict[Layers, int] = {}
    for one in layers:
        key = replace(one, count=0, kind="")
        counts[key] = counts.get(key, 0) + one.count
    return tuple(replace(one, count=count) for one, count in counts.items())


def _largest(layers: list[Layers]) -> Layers:
    return max(layers, key=lambda one: one.page)


def _stretched(one: Layers, page: int) -> Layers:
    """The layer with as many tokens a block as fill the page; a state is padded."""
    if one.state:
        return replace(one, state=page)
    if page % one.page:
        raise NotModelled(
            f"pages of {one.page:,} and {page:,} B: no whole number of the one fills "
            "the other, and vLLM refuses the model"
        )
    return replace(one, block=one.block * (page // one.page))
