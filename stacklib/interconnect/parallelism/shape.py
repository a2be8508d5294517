"""What a training step needs to know of a model: sizes, once, as plain numbers.

Every matrix of a layer is cut by its columns where it reads what all chips hold (Q, K,
V, gate, up), by its rows where it writes it (O, down): one exchange a pair. The small
matrices down to latents, and routers, are kept whole on each chip.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from stacklib import models
from stacklib.models.block import Block
from stacklib.models.language_model import LanguageModel
from stacklib.models.parts import Attention, Experts
from stacklib.quantity.bounds import whole

_LATENT = ("q up", "kv up")
_WHOLE = ("q down", "kv down", "router", "shared weight", "convolution")


@dataclass(frozen=True, slots=True)
class Mat:
    """Matrices with one input: sizes, how many a token passes, how they are cut."""

    depth: int
    columns: int
    used: int  # of `total` alike
    total: int
    cut: str  # columns, rows or none

    @property
    def weights(self) -> float:
        """Numbers of all of them."""
        return float(self.depth * self.columns * self.total)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of layer."""

    count: int
    mats: tuple[Mat, ...]
    heads: int
    pairs: float  # multiply-adds of scores and values a token, later tokens masked
    square: float  # the same with all pairs computed
    split: float  # numbers a token that are cut: Q, K, V and what O reads
    inner: float  # gate and up, of all experts a token passes
    middle: float  # what down reads
    keys: float  # numbers a token of keys and values
    routed: int  # experts a token passes
    small: float  # parameters outside matrices
    experts: int = 0  # of which a token passes ``routed``
    biased: bool = False  # whether experts have biases
    head: float = 128.0  # numbers of a head, queries' and values' on the mean
    latent: tuple[Mat, ...] = ()  # what expands latents to heads


class Numbers(NamedTuple):
    """Parameters of a layer, by how they are cut."""

    dense: float  # every chip of a stage has its share
    whole: float  # these stay whole under tensor parallelism
    routed: float  # of experts


def numbers(kind: Kind) -> Numbers:
    """Parameters of a layer of a kind."""
    found = [0.0, kind.small, 0.0]
    for mat in kind.mats:
        place = 2 if mat.total != mat.used else 1 if mat.cut == "none" else 0
        found[place] += mat.weights
    return Numbers(*found)


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a model."""

    name: str
    layers: int
    hidden: int
    vocab: int
    heads: int
    kv_heads: int
    experts: int
    kinds: tuple[Kind, ...]
    pattern: tuple[int, ...]  # the kind of each layer, in order
    own: tuple[Numbers, ...]  # parameters of a layer of each kind
    table: float  # embedding and head, each
    tied: bool
    macs: float  # multiply-adds a token in matrices, the head too
    pair_macs: float  # and in attention

    @property
    def parameters(self) -> float:
        """All of them."""
        tables = self.table * (1 if self.tied else 2)
        return sum(sum(self.own[kind]) for kind in self.pattern) + tables

    @property
    def routed(self) -> float:
        """Parameters of all experts."""
        return sum(self.own[kind].routed for kind in self.pattern)


def _mats(block: Block, hidden: int) -> tuple[Mat, ...]:
    """The products of a layer, those with the same input as one."""
    attention = block.attention.matrices(hidden)
    found: dict[tuple[Any, ...], Mat] = {}
    listed = block.matrices(hidden)
    for place, m in enumerate(listed):
        inside = place < len(attention)
        down = m.name.endswith("down") and not inside
        cut = "rows" if m.name in ("o", "o up") or down else "columns"
        if m.name in _WHOLE:
            cut = "none"
        key = (inside, m.rows, cut, m.used, m.total, m.name if cut == "none" else "")
        old = found.get(key)
        wide = m.columns + (old.columns if old else 0)
        found[key] = Mat(m.rows, wide, m.used, m.total, cut)
    return tuple(found.values())


def _kind(block: Block, count: int, hidden: int, length: int) -> Kind:
    attention, mlp = block.attention, block.mlp
    own = attention.matrices(hidden)
    rest = block.matrices(hidden)[len(own) :]
    macs = sum(attention.prompt_macs(length).values()) / length
    square = macs
    if isinstance(attention, Attention) and not attention.window:
        square = 2.0 * attention.heads * attention.head_dim * length
    out = {m.name: m for m in own}
    split = sum(m.columns for m in own if m.name not in (*_WHOLE, "o", "o up"))
    split += out["o"].rows if "o" in out else 0
    up = [m for m in rest if m.name.endswith(("gate", "up"))]
    down = [m for m in rest if m.name.endswith("down")]
    keys = 2 * attention.kv_heads * attention.head_dim
    return Kind(
        count,
        _mats(block, hidden),
        attention.heads,
        macs,
        square,
        split,
        sum(m.columns * m.used for m in up),
        sum(m.rows * m.used for m in down),
        keys,
        mlp.top_k if isinstance(mlp, Experts) else 0,
        block.vectors(hidden),
        mlp.experts if isinstance(mlp, Experts) else 0,
        isinstance(mlp, Experts) and mlp.bias,
        _head(attention),
        tuple(
            Mat(m.rows, m.columns, 1, 1, "columns") for m in own if m.name in _LATENT
        ),
    )


def _head(attention: Any) -> float:
    """Numbers of a head of scores and of one of values, their mean."""
    scores = attention.head_dim or 128
    names = ("v_head_dim", "value_dim")
    values = next((v for n in names if (v := getattr(attention, n, None))), scores)
    return (scores + values) / 2


_known: dict[tuple[int, int, int], tuple[LanguageModel, Shape]] = {}


def model_of(model: str | LanguageModel) -> LanguageModel:
    """A model by name, or itself."""
    return models.get(model) if isinstance(model, str) else model


def _later(kind: Kind, hidden: int) -> Kind:
    """A layer that predicts a further token: it joins two hidden states first."""
    join = Mat(2 * hidden, hidden, 1, 1, "columns")
    return replace(kind, mats=(join, *kind.mats), small=kind.small + 2 * hidden)


def shape_of(model: str | LanguageModel, length: int, later: int = 0) -> Shape:
    """Sizes of a model that trains on sequences of ``length`` tokens.

    - ``later``: layers behind it that predict further tokens, as its last one is; each
      passes the head once more.
    """
    model = model_of(model)
    if (id(model), length, later) in _known:
        return _known[id(model), length, later][1]
    whole(length=length)
    whole(0, later=later)
    kinds = tuple(
        _kind(block, model.count(place), model.hidden, length)
        for place, block in enumerate(model.kinds)
    )
    pattern = tuple(model.pattern)
    if later:
        last = replace(_later(kinds[pattern[-1]], model.hidden), count=later)
        pattern += (len(kinds),) * later
        kinds += (last,)
    table = float(model.vocab * model.hidden)
    inside = sum(k.count * m.used * m.depth * m.columns for k in kinds for m in k.mats)
    experts = [b.mlp.experts for b in model.kinds if isinstance(b.mlp, Experts)]
    found = Shape(
        model.key,
        model.layers,
        model.hidden,
        model.vocab,
        model.heads,
        model.kv_heads,
        experts[0] if experts else 0,
        kinds,
        pattern,
        tuple(map(numbers, kinds)),
        table,
        model.tied,
        inside + table * (1 + later),
        sum(k.count * k.pairs for k in kinds),
    )
    # The model lives, so its id is its own.
    _known[id(model), length, later] = (model, found)
    return found
