"""Which engine for a load: a rule each, with the figure that the rule stands on.

A rule holds where its figure is beyond what it is compared with. They are tried in the
order of the table; the last always holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from stacklib.hardware import Accelerator
from stacklib.hardware.errors import error_band
from stacklib.models import LanguageModel
from stacklib.paged_kv import BlockAllocator, PrefixTree
from stacklib.quantity import Quantity, counted
from stacklib.quantity.bounds import above_zero, whole
from stacklib.roofline.work.bounds import device_of

from ..estimates.estimate import estimate

BLOCK = 16  # tokens of a vLLM block
WHEN = {
    "llama.cpp": "one user, or weights that do not fit",
    "SGLang": "prompts that branch from shared beginnings",
    "TensorRT-LLM": "one model, for long, on NVIDIA's chips",
    "TGI": "it runs already",
    "vLLM": "everything else",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """An engine, when to take it, and why.

    - ``figure``: what decides; None where a document does
    - ``holds``: whether the figure is beyond its limit, which ``words`` name
    """

    engine: str
    when: str
    figure: Quantity | None
    holds: bool
    words: str


def found_by_blocks(shared: int, prompt: int, block: int = BLOCK) -> int:
    """Tokens that a second prompt finds in blocks, when it shares its beginning."""
    whole(0, shared=shared)
    whole(prompt=prompt, block=block)
    pool = BlockAllocator(2 * (prompt // block + 2), block)
    pool.allocate(list(range(prompt)))
    return pool.match(_branch(shared, prompt)).tokens


def found_by_tree(shared: int, prompt: int) -> int:
    """The same in a tree whose pages hold one token."""
    whole(0, shared=shared)
    whole(prompt=prompt)
    tree = PrefixTree(1)
    tree.insert(list(range(prompt)))
    return tree.match(_branch(shared, prompt)).tokens


def _branch(shared: int, prompt: int) -> list[int]:
    """A prompt that begins like ``range(prompt)`` and goes on otherwise."""
    return [n if n < shared else prompt + n for n in range(prompt)]


def repaid(build: Quantity, gain: Quantity) -> Quantity:
    """Time of service after which a build has been made up for by its gain.

    While it builds nothing is served: ``(t - build) (1 + gain) = t``.
    """
    above_zero(build=build, gain=gain)
    return (build * (1 + gain) / gain).named("service until a build is repaid")


def rules(
    model: str | LanguageModel,
    on: str | Accelerator,
    *,
    users: int,
    prompt: int,
    shared: int = 0,
    hours: float = 24.0,
    build: Quantity,
    gain: Quantity,
    **more: Any,
) -> list[Rule]:
    """Engines, each with its rule and figure; the first that holds is the answer.

    - ``users``: requests at once
    - ``prompt``: tokens of a prompt, of which ``shared`` begin other prompts as well
    - ``hours``: that one model is served without a change
    - ``build``, ``gain``: time to build an engine of TensorRT's, and the share of
      tokens a second that it then has over others
    - ``more``: formats and chips, as ``estimate`` takes them
    """
    whole(users=users, prompt=prompt)
    whole(0, shared=shared)
    above_zero(hours=hours)
    if shared > prompt:
        raise ValueError(f"shared = {shared}: more than the prompt's {prompt} tokens")
    step = partial(estimate, model, on, context=prompt, **more)
    alone = step(batch=1)
    if not alone.fits:
        words = "weights that do not fit: layers stay with the host"
        return [Rule("llama.cpp", words, None, True, alone.why)]
    ratio: Quantity = step(batch=users).tokens_per_s / alone.tokens_per_s
    worth = ratio.named(f"rate of {users} users over that of one")
    many = f"a batch of {users} makes {worth:.3} times the tokens of one"
    read = partial(step, prompt=prompt)
    hit = min(shared, prompt - 1) / prompt
    found = (read().ttft / read(prefix_hit=hit).ttft).named(
        "first token, cold over found"
    )
    band = error_band("E_prefill/prompt")
    least = 1 + (band.median if band else 0.0)
    again = repaid(build, gain)
    long = hours * 3600 > again.si and device_of(on).vendor == "NVIDIA"
    tree = counted(found_by_tree, shared, prompt, unit="token", label="found by a tree")
    blocks = counted(found_by_blocks, shared, prompt, unit="token", label="by blocks")
    sooner = (
        f"a first token {found:.3} times as fast, {least:.3g} is beyond the "
        f"estimate's error; a tree finds {tree:.0f}, blocks {blocks:.0f}"
    )
    build_words = f"a build is repaid after {again.text('h')} of {hours:g} h"
    rows = (
        ("llama.cpp", worth, users == 1, many),
        ("SGLang", found, found.si > least, sooner),
        ("TensorRT-LLM", again, long, build_words),
        ("TGI", None, False, "its makers only maintain it"),
        ("vLLM", worth, True, many),
    )
    return [Rule(name, WHEN[name], *rest) for name, *rest in rows]
