"""Names of modules as releases write them, and the patterns that pick them.

A pattern is the name of a module, with what is inside it; with ``*``, or after ``re:``
as a regular expression. What stands before ``layers.`` does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import lru_cache

from .tensors import Tensor

_ATTENTION = ("self_attn", "linear_attn", "attn", "attention", "mixer")
_MLP = ("mlp", "block_sparse_moe", "ffn", "feed_forward", "mixer", "moe")
_PROJECTIONS: dict[str, tuple[str, ...]] = {
    "q": ("q_proj",),
    "q and gate": ("q_proj",),
    "k": ("k_proj",),
    "v": ("v_proj",),
    "o": ("o_proj", "out_proj", "wo_b"),
    "q down": ("q_a_proj", "wq_a", "fused_qkv_a_proj"),
    "q up": ("q_b_proj", "wq_b"),
    "kv": ("wkv",),
    "kv down": ("kv_a_proj_with_mqa", "wkv_a", "fused_qkv_a_proj"),
    "kv up": ("kv_b_proj", "wkv_b"),
    "o down": ("wo_a",),
    "o up": ("wo_b",),
    "in": ("in_proj",),
    "qkv": ("qkv_proj", "in_proj_qkv"),
    "qkvz": ("in_proj_qkvz", "in_proj_qkv", "in_proj_z"),
    "beta and decay": ("in_proj_ba", "in_proj_b", "in_proj_a"),
    "index q": ("indexer.wq_b",),
    "index k": ("indexer.wk",),
    "index weights": ("indexer.weights_proj",),
    "gate": ("gate_proj", "w1"),
    "up": ("up_proj", "w3"),
    "down": ("down_proj", "w2"),
}
_BESIDE = re.compile(r"layers\.[0-9*]+\.(router|experts)")
_BEHIND = {
    "expert": ("experts.0",),
    "shared": ("shared_experts", "shared_expert"),
}


@lru_cache(maxsize=4096)
def _in_layer(name: str, beside: bool) -> tuple[str, ...]:
    """What a matrix of a layer may be called there."""
    first, _, rest = name.partition(" ")
    if first == "expert" and beside:
        return tuple(f"experts.0.{p}" for p in _PROJECTIONS.get(rest, ()))
    if first in _BEHIND:
        inner = [f"{b}.{p}" for b in _BEHIND[first] for p in _PROJECTIONS.get(rest, ())]
        homes: Iterable[str] = _MLP
    else:
        inner = [*_PROJECTIONS.get(name, (name.replace(" ", "_"),))]
        homes = _MLP if name in ("gate", "up", "down") else _ATTENTION
    return tuple(f"{home}.{p}" for home in homes for p in inner)


def names_of(tensor: Tensor, beside: bool = False) -> tuple[str, ...]:
    """Names a tensor's module may have, from ``layers.`` on.

    ``beside``: where experts stand beside the MLP and not in it (Gemma 4).
    """
    if tensor.part == "head":
        return ("lm_head", "head", "output")
    if tensor.part != "matrix":
        return ()
    inside = _in_layer(tensor.name, beside)
    return tuple(f"layers.{tensor.layer}.{name}" for name in inside)


class Picked:
    """Modules that a list of patterns picks."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self.whole: set[str] = set()
        self.beside = False
        parts: list[str] = []
        for pattern in patterns:
            self.beside |= bool(_BESIDE.search(pattern))
            if pattern.startswith("re:"):
                # it was written for names that begin with ``model.``
                parts.append(rf"(?:{pattern[3:]})")
                continue
            at = pattern.find("layers.")
            cut = pattern[at:] if at >= 0 else pattern
            if any(c in cut for c in "*?["):
                parts.append(translate(cut).removesuffix(r"\Z").removesuffix(r"\z"))
                parts.append(translate(cut + ".*"))
            else:
                self.whole.add(cut)
        self.pattern = re.compile("|".join(parts)) if parts else None

    def __contains__(self, tensor: object) -> bool:
        assert isinstance(tensor, Tensor)
        return any(map(self._has, names_of(tensor, self.beside)))

    def _has(self, name: str) -> bool:
        if not self.whole.isdisjoint(_inside(name)):
            return True
        if self.pattern is None:
            return False
        spelt = (name, f"model.{name}", f"model.language_model.{name}")
        return any(self.pattern.fullmatch(full) for full in spelt)


def _inside(name: str) -> Iterator[str]:
    """The module, those it is in, and its own last word."""
    words = name.split(".")
    for length in range(1, len(words) + 1):
        yield ".".join(words[:length])
    yield from words[2:]
