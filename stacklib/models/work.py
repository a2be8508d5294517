"""Work by layer and operation, for prefill and decode.

Bytes are weights and KV cache, each moved once; activations are left out, as in
the decode step of ``roofline``. A norm or bias counts as a matrix of one column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stacklib.quantity import Quantity
from stacklib.quantity.bounds import whole

from .block import Block
from .language_model import LanguageModel
from .parts import Experts, Matrix
from .weights.kept import kept, way_of
from .weights.mixtures import cache_number

PHASES = ("prefill", "decode")
_HEAD = -1  # the layer number of what follows the last layer


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of one layer.

    Parameters
    ----------
    layer : int
        Its layer from 0; -1 for last norm and output matrix.
    part : str
        ``attention``, ``mlp``, ``norms`` or ``head``.
    name : str
        For example ``q``, ``scores``, ``expert up``.
    flops : float
        Operations, two a multiply-add.
    weight_bytes, cache_bytes : float
        Moved; weights once for all tokens.
    """

    layer: int
    part: str
    name: str
    flops: float
    weight_bytes: float
    cache_bytes: float

    @property
    def bytes(self) -> float:
        """Weights and cache together."""
        return self.weight_bytes + self.cache_bytes


def operations(
    model: LanguageModel,
    phase: str,
    *,
    context: int,
    batch: int = 1,
    dtype: str | Quantity | None = None,
    kv_dtype: str | Quantity | None = None,
    logits: str = "all",
) -> list[Operation]:
    """Every operation of one pass, layer by layer.

    Parameters
    ----------
    phase : str
        ``"decode"``: one new token in each sequence, with ``context`` cached;
        latent attention absorbed. ``"prefill"``: all tokens of prompts of
        ``context``; latent attention expanded.
    dtype, kv_dtype : str, Quantity or None
        How the weights are kept, by tensor where it is a mixture (None: as the file
        has them, or bf16), and the format of the cache when it differs.
    logits : str
        In prefill, ``"all"`` gives every token its output row, as the sum 2PL
        does; ``"last"`` only the last of each prompt, as engines do.

    Returns
    -------
    list of Operation
        Experts at their expected number touched, see
        ``LanguageModel.read_parameters``.

    Raises
    ------
    ValueError
        For an unknown phase or choice of logits, and sizes that make no sense.
    UnknownName
        For an unknown format.
    """
    if phase not in PHASES:
        raise ValueError(f"phase = {phase!r}: use prefill or decode")
    if logits not in ("all", "last"):
        raise ValueError(f"logits = {logits!r}: use all or last")
    prefill = phase == "prefill"
    whole(int(prefill), context=context)
    whole(batch=batch)
    batch, context = int(batch), int(context)  # NumPy's overflow
    tokens = batch * context if prefill else batch
    how = way_of(model, dtype)
    cache = cache_number(how.cache if kv_dtype is None else kv_dtype).si
    size = _sizes(model, dtype)
    once = _Layer(model, tokens, cache)
    found: list[Operation] = []
    templates = [once.block(block, prefill, context, batch) for block in model.kinds]
    for number, kind in enumerate(model.pattern):
        found += [
            Operation(number, part, name, flops, many * size(number, name), kv)
            for part, name, flops, many, kv in templates[kind]
        ]
    rows = tokens if not prefill or logits == "all" else batch
    found += [
        Operation(_HEAD, part, name, flops, many * size(_HEAD, name), 0.0)
        for part, name, flops, many in once.head(rows)
    ]
    return found


def _sizes(
    model: LanguageModel, dtype: str | Quantity | None
) -> Callable[[int, str], float]:
    """Bytes of a number by layer and name, as the weights are kept."""
    row = way_of(model, dtype).element
    if row is not None:
        each = row.bits / 8
        return lambda layer, name: each
    assert not isinstance(dtype, Quantity)
    known = kept(model, dtype).bytes_per_number

    def size(layer: int, name: str) -> float:
        if name == "output" and model.tied:
            name = "embedding"
        alike = name.replace("gate", "up")  # some files keep both in one
        found = known.get((layer, name)) or known.get((layer, alike))
        return found or known[layer, ""]

    return size


Row = tuple[str, str, float, float, float]  # part, name, FLOP, weights, B of the cache


@dataclass(frozen=True, slots=True)
class _Layer:
    """One pass of ``tokens`` tokens."""

    model: LanguageModel
    tokens: int
    cache: float  # B of a number

    def _matrix(self, part: str, m: Matrix, touched: float) -> Row:
        flops = 2.0 * self.tokens * m.used * m.each
        return (part, m.name, flops, touched * m.each, 0.0)

    def block(self, block: Block, prefill: bool, context: int, batch: int) -> list[Row]:
        """Rows of one kind of layer."""
        hidden, a, mlp = self.model.hidden, block.attention, block.mlp
        rows = [self._matrix("attention", m, m.total) for m in a.matrices(hidden)]
        if prefill:
            moved = a.cached(context)
            macs = a.prompt_macs(context)
        else:
            moved = a.read(context + 1)
            macs = a.score_macs(context + 1, True)
        kv = batch * moved * self.cache
        for place, (name, count) in enumerate(macs.items()):
            # the cache is one read: told at the first of the two products
            rows.append(
                ("attention", name, 2.0 * batch * count, 0.0, 0.0 if place else kv)
            )
        touched = mlp.touched(self.tokens) if isinstance(mlp, Experts) else 1.0
        listed = block.matrices(hidden)[len(a.matrices(hidden)) :]
        for m in listed:
            rows.append(self._matrix("mlp", m, touched if m.routed else m.total))
        small = block.vectors(hidden)
        flops = 2.0 * self.tokens * small
        return [*rows, ("norms", "norms", flops, small, 0.0)]

    def head(self, rows: int) -> list[tuple[str, str, float, float]]:
        """Last norm and output matrix; every token passes the norm."""
        model = self.model
        hidden = model.hidden
        small = (model.final_norm + model.embedding_norm) * hidden
        if model.streams:
            small += model.streams**2 * hidden + model.streams + 1
        matrix = Matrix("output", hidden, model.vocab, model.head_bias)
        return [
            ("norms", "norms", 2.0 * self.tokens * small, small),
            ("head", "output", 2.0 * rows * matrix.each, matrix.each),
        ]


@dataclass(frozen=True, slots=True)
class LayerWork:
    """Work one token causes in one layer.

    - ``layer``: from 0; -1 for last norm and output matrix
    - ``kind``: attention and MLP in words
    - ``flops``, ``bytes``: per token: the pass's total over its tokens
    """

    layer: int
    kind: str
    flops: float
    bytes: float


def work_per_token(
    model: LanguageModel,
    context: int,
    phase: str = "decode",
    *,
    batch: int = 1,
    dtype: str | Quantity | None = None,
) -> list[LayerWork]:
    """Operations and bytes a token, layer by layer.

    Parameters
    ----------
    context : int
        Tokens cached (decode), or tokens of the prompt (prefill).
    phase : str
        ``"decode"`` or ``"prefill"``.

    Raises
    ------
    ValueError, UnknownName
        As ``operations`` does.
    """
    found = operations(model, phase, context=context, batch=batch, dtype=dtype)
    tokens = int(batch) * int(context if phase == "prefill" else 1)
    layers = [*range(model.layers), _HEAD]
    flops, moved = dict.fromkeys(layers, 0.0), dict.fromkeys(layers, 0.0)
    for op in found:
        flops[op.layer] += op.flops / tokens
        moved[op.layer] += op.bytes / tokens
    words = {n: model.kinds[k].kind for n, k in enumerate(model.pattern)}
    return [LayerWork(n, words.get(n, "output"), flops[n], moved[n]) for n in layers]
