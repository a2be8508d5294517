"""What is asked of a search: requests, limits, chips; checked once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.models import LanguageModel
from stacklib.quantity import resolve
from stacklib.quantity.bounds import above_zero, whole
from stacklib.quantity.names import resolve_all
from stacklib.roofline.work.bounds import device_of

from ..token.account import SOFTWARE

LIMITS = ("ttft", "tpot", "e2e")
OBJECTIVES = ("tokens_per_gpu", "tokens_per_user")


@dataclass(frozen=True, slots=True)
class Asked:
    """Arguments of ``search``, in their checked form.

    - ``prompt``, ``new``: mean tokens read and written by a request
    - ``spread``: variance of the prompts' lengths over the square of their mean
    - ``ttft``, ``tpot``, ``e2e``: seconds at the most; infinite where none are asked
    """

    model: str | LanguageModel
    gpus: int
    on: tuple[str | Accelerator, ...]
    prompt: float
    new: float
    spread: float
    ttft: float
    tpot: float
    e2e: float
    dtypes: tuple[Any, ...]
    software: str
    objective: str

    def slower(self, factor: float) -> Asked:
        """The same limits for chips that take ``factor`` times as long."""
        limits = {name: getattr(self, name) / factor for name in LIMITS}
        return replace(self, **limits)


def asked(
    model: str | LanguageModel,
    gpus: int,
    on: str | Accelerator | Sequence[str | Accelerator],
    traffic: Any,
    slo: Mapping[str, Any],
    dtypes: Sequence[Any],
    software: str,
    objective: str,
) -> Asked:
    """The arguments of ``search``, which describes them."""
    whole(gpus=gpus)
    chips = (on,) if isinstance(on, str | Accelerator) else tuple(on)
    if not chips:
        raise ValueError("on is empty: an accelerator is needed, such as 'h100-sxm'")
    keys = [device_of(chip).key for chip in chips]
    if len(set(keys)) < len(keys):
        raise ValueError(f"on = {keys}: each accelerator once")
    if isinstance(dtypes, str) or not (formats := tuple(dtypes)):
        raise ValueError(f"dtypes = {dtypes!r}: a list of formats, ['bf16', 'fp8']")
    resolve(software, SOFTWARE, "software", exact=True)
    resolve(objective, OBJECTIVES, "objective", exact=True)
    lengths = _lengths(traffic)
    most = _limits(slo)
    return Asked(
        model,
        gpus,
        chips,
        *lengths,
        **most,
        dtypes=formats,
        software=software,
        objective=objective,
    )


def _limits(slo: Mapping[str, Any]) -> dict[str, float]:
    if not isinstance(slo, Mapping) or not slo:
        raise ValueError(
            f"slo = {slo!r}: seconds by {', '.join(LIMITS)}, such as "
            "{'ttft': 2, 'tpot': 0.05}"
        )
    most = resolve_all(slo, LIMITS, "limit", exact=True)
    above_zero(**most)
    most = {limit: float(getattr(value, "si", value)) for limit, value in most.items()}
    return dict.fromkeys(LIMITS, math.inf) | most


def _lengths(traffic: Any) -> tuple[float, float, float]:
    """Mean tokens read and written, and the spread of what is read."""
    rows = list(traffic) if isinstance(traffic, Iterable) else []
    if len(rows) == 2 and not any(hasattr(row, "prompt") for row in rows):
        whole(prompt=rows[0], new=rows[1])
        return float(rows[0]), float(rows[1]), 0.0
    if not rows or not all(hasattr(row, "prompt") for row in rows):
        raise ValueError(
            f"traffic = {traffic!r}: tokens read and written, (4096, 512), or rows "
            "of requests, each with its prompt and new"
        )
    for row in rows:
        whole(prompt=row.prompt, new=row.new)
    many = len(rows)
    prompt = sum(row.prompt for row in rows) / many
    new = sum(row.new for row in rows) / many
    variance = sum((row.prompt - prompt) ** 2 for row in rows) / many
    return prompt, new, variance / prompt**2
