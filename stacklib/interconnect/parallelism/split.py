"""Which layers the stages of a pipeline hold: told, or spread so that none is slow.

A split says how many layers each part of the model holds, parts in the order in which a
token passes them. The embedding is in the first part, head and loss are in the last,
and those two may hold no layer. Part c p + s is piece c of stage s; DualPipe's ranks
s and p - 1 - s both hold parts s and p - 1 - s, and run half of the microbatches each
way (DeepSeek-V3 Technical Report, 2024, section 3.2.1).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from stacklib.quantity.bounds import whole

STEPS = 16  # in which costs are told when layers are spread: of the costliest layer
_MANY = 4096  # parts of a text, at most
_GROUP = re.compile(r"\(([^()]*)\)\*(\d+)")
_ONE = re.compile(r"([Etm|L])\*(\d+)")


class Stage(NamedTuple):
    """Stages that hold alike; of an array of layouts each field is an array."""

    place: Any  # of the first of them, from 0
    many: Any  # how many there are
    layers: tuple[Any, ...]  # of each kind
    embedding: Any  # 1 where it is here
    head: Any


def read(text: str) -> tuple[int, ...]:
    """Layers of each part, as Megatron-LM's ``--pipeline-model-parallel-layout``.

    - ``text``: E embedding, t layer, m one that predicts a further token, L loss, a bar
      between parts, ``x*3`` and ``(tt|)*3`` repeated.
    - raises ``ValueError`` for other letters, an embedding that is not first, a loss
      that is not last, and for a layer behind one that predicts.

    >>> read("Ett|(ttt|)*2t*2L")
    (2, 3, 3, 2)
    """
    said = text.replace(",", "").replace(" ", "")
    for pattern in (_GROUP, _ONE):
        size = sum(len(m[1]) * int(m[2]) for m in pattern.finditer(said))
        if size > 64 * _MANY:
            raise ValueError(f"split = {text!r}: more than {_MANY} parts")
        said = pattern.sub(lambda m: m[1] * int(m[2]), said)
    odd = re.search(r"[^Etm|L]", said)
    if odd:
        raise ValueError(
            f"split = {text!r}: {odd[0]!r} is none of E, t, m, L and |, or stands "
            "where none of them can"
        )
    order = said.replace("|", "")
    if not re.fullmatch(r"Et*m*L", order):
        raise ValueError(
            f"split = {text!r}: one E comes first, then layers (t), then those that "
            "predict (m), and one L last"
        )
    return tuple(part.count("t") + part.count("m") for part in said.split("|"))


def write(split: Sequence[int], later: int = 0) -> str:
    """A split as Megatron-LM reads it; the last ``later`` layers predict."""
    left = sum(split) - later
    parts = []
    for many in split:
        plain = min(many, max(left, 0))
        left -= plain
        parts.append(_times("t", plain) + _times("m", many - plain))
    parts[0] = "E" + parts[0]
    parts[-1] += "L"
    said = []
    for part, alike in groupby(parts[:-1]):
        count = len(list(alike))
        said.append(f"({part}|)*{count}" if count > 1 else f"{part}|")
    return "".join(said) + parts[-1]


def _times(letter: str, many: int) -> str:
    return letter * many if many < 3 else f"{letter}*{many}"


def told(
    layers: int,
    stages: int,
    interleave: int = 1,
    *,
    first: int | None = None,
    last: int | None = None,
    embedding: bool = False,
    loss: bool = False,
) -> tuple[int, ...]:
    """Layers of each part, as Megatron-LM's other flags split them.

    - ``first``, ``last``: layers of the first and of the last stage, all its pieces
      (``--decoder-first-pipeline-num-layers``); the others share what is left.
    - ``embedding``, ``loss``: whether each counts as a layer
      (``--account-for-embedding-in-pipeline-split``).
    - raises ``ValueError`` where stages or pieces would not hold as many.

    >>> told(126, 16, embedding=True, loss=True)[::15]
    (7, 7)
    """
    whole(layers=layers, stages=stages, interleave=interleave)
    ends = {0: first, stages - 1: last}
    given = {at: many for at, many in ends.items() if many is not None}
    for many in given.values():
        whole(0, layers_of_an_end=many)
    if given and (embedding or loss):
        raise ValueError(
            "embedding and loss count as layers only where first and last are not told"
        )
    left, others = layers - sum(given.values()), stages - len(given)
    left += embedding + loss
    if left < 0 or (left % others if others else left):
        raise ValueError(f"{left} layers do not split over {others} stages alike")
    sizes = [given.get(s, left // max(others, 1)) for s in range(stages)]
    if odd := [many for many in sizes if many % interleave]:
        raise ValueError(
            f"a stage's {odd[0]} layers do not split in {interleave} alike"
        )
    split = [many // interleave for many in sizes] * interleave
    split[0] -= embedding
    split[-1] -= loss
    return tuple(split)


@lru_cache(maxsize=1024)
def ranks(stages: int, interleave: int, paired: bool) -> tuple[tuple[int, ...], ...]:
    """The parts that each stage holds; of two ranks that hold alike one."""
    if paired:
        return tuple((s, stages - 1 - s) for s in range(stages // 2))
    return tuple(tuple(range(s, stages * interleave, stages)) for s in range(stages))


@lru_cache(maxsize=8192)
def spread(
    pattern: tuple[int, ...],
    stages: int,
    interleave: int,
    costs: tuple[int, ...],
    head: int,
    embedding: int,
    paired: bool = False,
) -> tuple[int, ...]:
    """The split whose slowest stage is the fastest, and of those an even one.

    - ``pattern``: the kind of each layer; ``costs`` of each kind, whole numbers, as
      ``head`` and ``embedding`` are. Of stages in pieces, or in pairs, each layer costs
      what the mean does.
    """
    each = [costs[kind] for kind in pattern]
    groups = ranks(stages, interleave, paired)
    if len(groups[0]) == 1:
        return _chain(each, stages, head, embedding)
    parts = stages * interleave
    ends, mean = (0, parts - 1), sum(each) / max(len(each), 1)
    counts = [sum(part not in ends for part in group) for group in groups]
    heap = [
        (n * mean + (0 in g) * embedding + (ends[1] in g) * head, -at)
        for at, (g, n) in enumerate(zip(groups, counts, strict=True))
    ]
    heapq.heapify(heap)
    for _ in range(len(each) - sum(counts)):
        cost, at = heap[0]
        counts[-at] += 1
        heapq.heapreplace(heap, (cost + mean, at))
    split = [0] * parts
    for group, many in zip(groups, counts, strict=True):
        # What does not divide goes to pieces in the middle first, to the ends last.
        order = sorted(group, key=lambda p: (p in ends, p == group[-1], p == group[0]))
        for at, part in enumerate(order):
            split[part] = many // len(group) + (at < many % len(group))
    return tuple(split)


def _chain(each: list[int], stages: int, head: int, embedding: int) -> tuple[int, ...]:
    """One part a stage: the least bound that all keep, then as even as it allows."""
    low, high = max([embedding, head, *each]), sum(each) + head + embedding
    while low < high:
        bound = (low + high) // 2
        if _filled(each, stages, head, embedding, bound, even=False):
            high = bound
        else:
            low = bound + 1
    found = _filled(each, stages, head, embedding, low, even=True)
    return found or _filled(each, stages, head, embedding, low, even=False)


def _filled(
    each: list[int], stages: int, head: int, embedding: int, bound: int, even: bool
) -> tuple[int, ...]:
    """Layers dealt from the last stage on; the first takes what is left, or none can.

    A first stage holds the most microbatches, so what others have room for is theirs.
    """
    split, end = [0] * stages, len(each)
    left = sum(each) + head + embedding
    for at in range(stages - 1, 0, -1):
        cost = head if at == stages - 1 else 0
        least, most = int(at < stages - 1), end - (at - 1)
        share = left / (at + 1) if even else bound
        while split[at] < most and cost + each[end - 1] <= bound:
            if split[at] >= least and cost >= share:
                break
            end -= 1
            cost += each[end]
            split[at] += 1
        left -= cost
    split[0] = end
    return tuple(split) if left <= bound else ()


@lru_cache(maxsize=8192)
def grouped(
    pattern: tuple[int, ...],
    kinds: int,
    split: tuple[int, ...],
    stages: int,
    paired: bool,
) -> tuple[Stage, ...]:
    """The stages of a split, those that hold alike as one."""
    begins = [sum(split[:at]) for at in range(len(split))]
    found: dict[tuple[Any, ...], list[int]] = {}
    for at, parts in enumerate(ranks(stages, len(split) // stages, paired)):
        mine = [k for p in parts for k in pattern[begins[p] : begins[p] + split[p]]]
        layers = tuple(float(mine.count(kind)) for kind in range(kinds))
        key = (layers, float(0 in parts), float(len(split) - 1 in parts))
        found.setdefault(key, []).append(at)
    ways = 2 if paired else 1
    return tuple(Stage(at[0], float(ways * len(at)), *key) for key, at in found.items())


def splits(
    pattern: tuple[int, ...],
    layout: Any,
    costs: tuple[Any, ...],
    head: Any,
    embedding: Any,
) -> tuple[tuple[int, ...], tuple[Stage, ...]]:
    """A layout's split and its stages; of an array of layouts, the stages alone.

    - ``costs``: seconds of a layer of each kind, and so on, as plain numbers.
    """
    paired = layout.schedule == "dualpipe"
    many = len(costs)
    if layout.split is not None:
        split = layout.split
        return split, grouped(pattern, many, split, layout.pp, paired)
    told = (layout.pp, layout.interleave, *costs, head, embedding)
    if not any(getattr(one, "shape", ()) for one in told):
        steps = _steps(costs, head, embedding, round)
        split = spread(
            pattern,
            int(layout.pp),
            int(layout.interleave),
            tuple(steps[:many]),
            *steps[many:],
            paired,
        )
        return split, grouped(pattern, many, split, int(layout.pp), paired)
    return (), _of_arrays(pattern, layout, costs, head, embedding, paired)


def _steps(costs: Any, head: Any, embedding: Any, rounded: Any) -> list[Any]:
    """Costs in steps of the costliest layer, at most so many that a key stays small."""
    most = costs[0]
    for cost in costs[1:]:
        most = most * (most >= cost) + cost * (cost > most)
    each = [rounded(STEPS * cost / most) for cost in (*costs, head, embedding)]
    return [one * (one < 1000) + 1000 * (one >= 1000) for one in each]


def _of_arrays(
    pattern: tuple[int, ...],
    layout: Any,
    costs: tuple[Any, ...],
    head: Any,
    embedding: Any,
    paired: bool,
) -> tuple[Stage, ...]:
    """Stages of many layouts: those with the same costs, stages and pieces at once."""
    import numpy

    parts = len(pattern) + 2
    fits = layout.pp * layout.interleave <= parts
    columns = [
        numpy.where(fits, layout.pp, 1),
        numpy.where(fits, layout.interleave, 1),
        *_steps(costs, head, embedding, numpy.rint),
    ]
    columns = [numpy.asarray(c, dtype=numpy.int64) for c in columns]
    key: Any = 0
    for column in columns:
        key = key * (int(column.max(initial=0)) + 1) + column
    if not numpy.size(key):
        return grouped(pattern, len(costs), (len(pattern),), 1, False)
    _, first, inverse = numpy.unique(key, return_index=True, return_inverse=True)
    wide = numpy.broadcast_arrays(*columns)
    listed = []
    for at in first:
        pp, v, *steps = (int(column.flat[at]) for column in wide)
        pair = paired and pp % 2 == 0
        split = spread(pattern, pp, v, tuple(steps[:-2]), *steps[-2:], pair)
        listed.append(grouped(pattern, len(costs), split, pp, pair))
    most = max(map(len, listed))
    table = numpy.zeros((4 + len(costs), most, len(listed)))
    for at, stages in enumerate(listed):
        for j in range(most):
            # Where another layout has more kinds of stages: the first once more.
            one = stages[j] if j < len(stages) else stages[0]._replace(many=0.0)
            table[:, j, at] = (
                one.place,
                one.many,
                one.embedding,
                one.head,
                *one.layers,
            )
    inverse = inverse.reshape(numpy.shape(key))
    found = [table[:, j][:, inverse] for j in range(most)]
    return tuple(Stage(f[0], f[1], tuple(f[4:]), f[2], f[3]) for f in found)
