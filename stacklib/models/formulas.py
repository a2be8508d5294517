"""Closed formulas for one layer, as quantities that show how they came about.

``work`` counts the same by walking the matrices; a test holds the two together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stacklib.quantity import Quantity, chosen, constant, counted, minimum

from .block import Block
from .compressed import CompressedAttention
from .parts import Attention, Experts, Indexer, LatentAttention, Skipped
from .recurrent import Recurrent

if TYPE_CHECKING:
    from .language_model import LanguageModel


class Sizes:
    """Sizes of one model as quantities, each with its source."""

    def __init__(self, model: LanguageModel) -> None:
        self.source, self.key = model.source, model.key
        self.hidden = self(model.hidden, "hidden size")

    def __call__(self, value: int, label: str) -> Quantity:
        """One size as a quantity of the config."""
        return Quantity(
            value,
            label=label,
            source=self.source,
            kind="config",
            key=f"{self.key}.{label}",
        )


def block_parameters(sizes: Sizes, block: Block, experts: Quantity | None) -> Quantity:
    """Parameters of one layer, with as many experts as are asked for."""
    a, hidden = block.attention, sizes.hidden
    extras = block.norms * hidden
    if isinstance(a, Attention):
        projections, more = _grouped(sizes, a)
    elif isinstance(a, LatentAttention):
        projections, more = _latent(sizes, a)
    elif isinstance(a, Recurrent):
        projections, more = _recurrent(sizes, a)
    elif isinstance(a, Skipped):
        projections, more = _skipped(sizes, a)
    else:
        projections, more = _compressed(sizes, a)
    for term in more:
        extras = extras + term
    if isinstance(block.mlp, Experts):
        assert experts is not None
        mlp = _experts(sizes, block.mlp, experts)
    else:
        wide = sizes(block.mlp.intermediate, "MLP size")
        matrices = 1 if block.mlp.linear else 3 if block.mlp.gated else 2
        mlp = matrices * hidden * wide
        if block.mlp.bias:
            extras = extras + (matrices - 1) * wide + hidden
    if block.streams:
        n = sizes(block.streams, "residual streams")
        mixing = n * (n + 2)
        extras = extras + 2 * (n * hidden * mixing + mixing + 3)
    if block.layer_input:
        extras = extras + 3 * hidden * sizes(block.layer_input, "layer input size")
    if block.scalars:
        extras = extras + sizes(block.scalars, "scalars")
    return (projections + mlp + extras).named("parameters per layer")


def _grouped(sizes: Sizes, a: Attention) -> tuple[Quantity, list[Quantity]]:
    hidden, head_dim = sizes.hidden, sizes(a.head_dim, "head size")
    query = sizes(a.heads, "query heads") * head_dim
    key = sizes(a.kv_heads, "KV heads") * head_dim
    asked = 2 * query if a.gate else query
    answer, made = query, [key, key]
    if a.value_dim:
        wide = sizes(a.value_dim, "value size")
        answer = sizes(a.heads, "query heads") * wide
        made = [key, sizes(a.kv_heads, "KV heads") * wide]
    made = {"": made, "values too": [key], "borrowed": []}[a.keys]
    projections = hidden * sum(made, asked) + answer * hidden
    extras = []
    if a.qkv_bias:
        extras += [asked, *made]
    if a.out_bias:
        extras.append(hidden)
    if a.qk_norm == "head":
        extras.append(head_dim if a.keys == "borrowed" else 2 * head_dim)
    elif a.qk_norm == "full":
        extras += [query, key]
    if a.sinks:
        extras.append(sizes(a.heads, "attention sinks"))
    if a.indexer:
        heads, head = _index(sizes, a.indexer)
        projections = projections + hidden * (heads * head + head)
        extras.append(2 * head)
    return projections, extras


def _index(sizes: Sizes, i: Indexer) -> tuple[Quantity, Quantity]:
    return sizes(i.heads, "index heads"), sizes(i.head_dim, "index head size")


def _skipped(sizes: Sizes, a: Skipped) -> tuple[Quantity, list[Quantity]]:
    if not a.linear:
        return chosen(0, label="no attention"), []
    return sizes.hidden * sizes.hidden, [sizes.hidden] if a.bias else []


def _latent(sizes: Sizes, a: LatentAttention) -> tuple[Quantity, list[Quantity]]:
    hidden = sizes.hidden
    heads, rope = sizes(a.heads, "query heads"), sizes(a.rope_head_dim, "rope size")
    nope, value = sizes(a.nope_head_dim, "nope size"), sizes(a.v_head_dim, "value size")
    latent = sizes(a.kv_lora_rank, "KV latent")
    extras = [latent]
    query = heads * (nope + rope)
    if a.q_lora_rank:
        rank = sizes(a.q_lora_rank, "query latent")
        asked = rank * (hidden + query)
        extras.append(rank)
    else:
        asked = hidden * query
    down = hidden * (latent + rope)
    up = latent * heads * (nope + value)
    total = asked + down + up + heads * value * hidden
    if a.indexer:
        i_heads, i_head = _index(sizes, a.indexer)
        rank = sizes(a.q_lora_rank, "query latent")
        total = total + hidden * (i_head + i_heads) + rank * i_heads * i_head
        extras.append(2 * i_head)
    return total, extras


def _recurrent(sizes: Sizes, a: Recurrent) -> tuple[Quantity, list[Quantity]]:
    hidden, extras = sizes.hidden, [sizes(a.extras, "norms and scalars")]
    columns = [sizes(n, f"{name} columns") for name, n in a.inputs]
    wide = sum(columns[1:], columns[0])
    total = hidden * (wide + sizes(a.width, "width of the output"))
    if a.channels:
        channels = sizes(a.channels, "convolution channels")
        total = total + channels * sizes(a.kernel, "convolution taps")
        extras += [channels] if a.conv_bias else []
    if a.bias:
        extras += [wide, hidden]
    return total, extras


def _state(sizes: Sizes, a: Recurrent) -> Quantity:
    """Numbers of a layer's state, the last inputs of its convolution among them."""
    rows = sizes(a.heads, "states") * sizes(a.key_dim, "rows of a state")
    numbers = rows * sizes(a.value_dim, "columns of a state")
    if a.channels:
        taps = sizes(a.kernel - 1, "earlier inputs")
        numbers = numbers + taps * sizes(a.channels, "convolution channels")
    return numbers.named("state")


def _compressed(
    sizes: Sizes, a: CompressedAttention
) -> tuple[Quantity, list[Quantity]]:
    hidden, heads = sizes.hidden, sizes(a.heads, "query heads")
    head, rank = sizes(a.head_dim, "head size"), sizes(a.q_lora_rank, "query latent")
    out = sizes(a.o_lora_rank, "output latent")
    groups = sizes(a.o_groups, "output groups")
    total = rank * (hidden + heads * head) + hidden * head
    total = total + out * heads * head + groups * out * hidden
    extras = [rank, head, heads]
    if a.rate:
        rate = sizes(a.rate, "tokens per entry")
        wide = (2 if a.indexer else 1) * head
        total = total + 2 * hidden * wide
        extras += [rate * wide, head]
        if a.indexer:
            i_heads, i_head = _index(sizes, a.indexer)
            total = total + hidden * (4 * i_head + i_heads) + rank * i_heads * i_head
            extras += [2 * rate * i_head, i_head]
    return total, extras


def _experts(sizes: Sizes, m: Experts, count: Quantity) -> Quantity:
    hidden = sizes.hidden
    all_of_them = sizes(m.experts, "experts")
    wide = sizes(m.intermediate, "expert size")
    matrices = 3 if m.gated else 2
    inside = sizes(m.latent, "size of an expert's input") if m.latent else hidden
    one = matrices * inside * wide
    if m.bias:
        one = one + (matrices - 1) * wide + inside
    mlp = count * one + hidden * all_of_them
    if m.latent:
        mlp = mlp + 2 * hidden * inside
    if m.router_bias:
        mlp = mlp + all_of_them
    if m.shared:
        mlp = mlp + matrices * hidden * sizes(m.shared, "shared expert size")
    if m.shared_gate:
        mlp = mlp + hidden
    return mlp


def seen(block: Block, tokens: Quantity) -> Quantity:
    """Entries a query attends to in this layer when ``tokens`` are there."""
    a = block.attention
    if isinstance(a, CompressedAttention):
        return counted(a.attended, tokens, label=f"attended in {a.kind}")
    if isinstance(a, Attention) and a.window:
        window = chosen(a.window, label="window")
        return minimum(tokens, window).named("tokens in the window")
    most = a.selected if isinstance(a, LatentAttention) else 0
    if isinstance(a, Attention) and a.indexer:
        most = a.indexer.top_k
    if most:
        return minimum(tokens, chosen(most, label="tokens selected")).named("seen")
    return tokens


def block_cache(
    sizes: Sizes, block: Block, tokens: Quantity, *, read: bool
) -> Quantity:
    """Numbers held (or moved by a query) in this layer's cache."""
    a = block.attention
    if isinstance(a, Attention):
        if a.plain:
            heads = sizes(a.kv_heads, "KV heads")
            width = heads * sizes(a.head_dim, "head size")
            return 2 * width * seen(block, tokens)
        return _cached(sizes, block, a, sizes(a.entry, "keys and values"), tokens, read)
    if isinstance(a, LatentAttention):
        return _cached(sizes, block, a, _latent_entry(sizes, a), tokens, read)
    if isinstance(a, Recurrent):  # read, and written back
        return 2 * _state(sizes, a) if read else _state(sizes, a)
    if isinstance(a, Skipped):
        return chosen(0, label="no cache")
    # What a query moves is less than what is held where an indexer selects.
    held = a.read if read else a.cached
    return counted(held, tokens, label=f"numbers of {a.kind}")


def _cached(
    sizes: Sizes,
    block: Block,
    a: Attention | LatentAttention,
    entry: Quantity,
    tokens: Quantity,
    read: bool,
) -> Quantity:
    """Entries held, or those selected that are moved, and the index keys of all."""
    if isinstance(a, Attention) and a.keys == "borrowed" and not read:
        return chosen(0, label="another layer's cache")
    numbers = entry * (tokens if block.keeps_all and not read else seen(block, tokens))
    if a.indexer:
        numbers = numbers + sizes(a.indexer.head_dim, "index head size") * tokens
    return numbers


def _latent_entry(sizes: Sizes, a: LatentAttention) -> Quantity:
    entry = sizes(a.kv_lora_rank, "KV latent") + sizes(a.rope_head_dim, "rope size")
    return entry.named("latent and rope")


def block_attention_flops(sizes: Sizes, block: Block, tokens: Quantity) -> Quantity:
    """FLOP of one query against ``tokens`` in this layer, absorbed where latent."""
    a = block.attention
    heads = sizes(a.heads, "query heads")
    flop = constant("multiply_add")
    if isinstance(a, LatentAttention):
        latent, rope = sizes(a.kv_lora_rank, "KV latent"), a.rope_head_dim
        each = flop * heads * (2 * latent + sizes(rope, "rope size"))
        return _with_index(sizes, a.indexer, each * seen(block, tokens), tokens)
    if isinstance(a, Skipped):
        return flop * chosen(0, label="no attention")
    if isinstance(a, Recurrent):
        numbers = heads * sizes(a.key_dim, "rows") * sizes(a.value_dim, "columns")
        return a.passes * flop * numbers
    if isinstance(a, Attention) and a.value_dim:
        both = sizes(a.head_dim, "head size") + sizes(a.value_dim, "value size")
        flops = flop * heads * both * seen(block, tokens)
    else:
        flops = 2 * flop * heads * sizes(a.head_dim, "head size") * seen(block, tokens)
    if isinstance(a, CompressedAttention) and a.indexer:
        entries = counted(a.entries, tokens, label="entries scored")
        return _with_index(sizes, a.indexer, flops, entries)
    return _with_index(sizes, a.indexer, flops, tokens)


def _with_index(
    sizes: Sizes, i: Indexer | None, flops: Quantity, scored: Quantity
) -> Quantity:
    """``flops``, and those of an indexer that scores so many entries."""
    if i is None:
        return flops
    index = sizes(i.heads, "index heads") * i.head_dim
    return flops + constant("multiply_add") * index * scored
