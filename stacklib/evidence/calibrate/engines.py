"""How published tokens of each engine stand to one estimate that knows no engine.

Engines are seldom measured on the same model, chip and lengths. A row of each is held
against what the estimate, which never saw its source, has for that very run; what is
left over is the engine's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from stacklib.quantity import resolve

from ..measurements import fitted
from ..predict.inference import KINDS, kind_of
from ..validate import quantile
from .files import held_out

ENGINES = {
    "vLLM": "vllm",
    "SGLang": "sglang",
    "TensorRT-LLM": "trt|tensorrt",
    "TGI": r"\btgi\b|text-generation",
    "llama.cpp": r"llama\.cpp|llama-bench",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """Published times of an engine over the estimate's: below 1 it is faster.

    - ``rows``: how many; ``low``, ``middle``, ``high``: tenth, half and nine tenths of
      them, 0 where there are none
    """

    engine: str
    rows: int
    low: float
    middle: float
    high: float


@cache
def standing(engine: str, kind: str = "served") -> Standing:
    """How an engine's published times stand to the estimate's.

    - ``engine``: one of ``ENGINES``
    - ``kind``: what the rows ask, one of ``KINDS``
    """
    words = ENGINES[resolve(engine, ENGINES, "engine", exact=True)]
    resolve(kind, KINDS, "kind", exact=True)
    stored, found = held_out(), []
    for row in fitted():
        told = row.id in stored and re.search(words, row.software.lower())
        if row.family != "E" or not told or kind_of(row) != kind:
            continue
        value = stored[row.id].by_source
        if value is not None:
            over = row.value / value
            found.append(1 / over if "/s" in row.unit else over)
    if not found:
        return Standing(engine, 0, 0.0, 0.0, 0.0)
    ends = (quantile(found, share) for share in (0.1, 0.5, 0.9))
    return Standing(engine, len(found), *ends)


def slower(engine: str, other: str, kind: str = "served") -> float:
    """Times as long as another engine's, each against the same estimate.

    - raises ``ValueError`` where one of them has no rows
    """
    both = standing(engine, kind), standing(other, kind)
    for one in both:
        if not one.rows:
            raise ValueError(f"no published row of {one.engine} asks {kind!r}")
    return both[0].middle / both[1].middle
