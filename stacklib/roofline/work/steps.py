"""Elementwise operations as lists of steps, and the rules by which steps are counted.

A recipe is what plain array code does, step by step: which arrays a step reads, which
it writes, and over how many numbers it computes. A rule says which of that counts.
Sources differ in three choices, and each is one field of ``Rule``: whether a step's
result goes through memory, whether pairs that a causal mask hides are computed, and
what an exponential counts as.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stacklib.quantity import resolve

PASSES = ("operation", "step")


@dataclass(frozen=True, slots=True)
class Rule:
    """How operations and bytes are counted."""

    name: str
    what: str  # the rule in a sentence
    # An operation reads its inputs once and writes its result once; with "step", so
    # does every step of it.
    passes: str = "operation"
    # Scores, softmax and values as one operation, which never stores the scores and
    # skips the pairs that the mask hides.
    fused_attention: bool = True
    # What an addition, multiplication, division or comparison counts as; and an
    # exponential, logarithm, root or hyperbolic tangent.
    simple: float = 1.0
    special: float = 1.0

    def __post_init__(self) -> None:
        if self.passes not in PASSES:
            raise ValueError(f"passes = {self.passes!r}: one of {', '.join(PASSES)}")
        for field in ("simple", "special"):
            if not getattr(self, field) >= 0:
                raise ValueError(f"{field} = {getattr(self, field)!r}: not below zero")


# An H100 finishes 128 FP32 additions or 16 special functions a cycle and SM: CUDA C++
# Programming Guide, table "Throughput of Native Arithmetic Instructions", 9.0.
SPECIAL_AS_TIME = 128 / 16

RULES = {
    rule.name: rule
    for rule in (
        Rule("fused", "each operation moves its inputs and result once; attention "
             "is one operation; every function counts one"),
        Rule("kernels", "each operation moves its inputs and result once, the scores "
             "of attention too; masked pairs are computed", fused_attention=False),
        Rule("steps", "each step moves its inputs and result once, as plain array "
             "code does; masked pairs are computed", "step", fused_attention=False),
        Rule("products", "as fused, but only multiply-adds of products count",
             simple=0.0, special=0.0),
        Rule("weighted", "as fused, but an exponential counts as the simple operations "
             "that an H100 does in its time", special=SPECIAL_AS_TIME),
    )
}  # fmt: skip


def rule_of(rule: str | Rule) -> Rule:
    """The rule, given itself or its name."""
    if isinstance(rule, Rule):
        return rule
    return RULES[resolve(rule, RULES, "counting rule")]


@dataclass(frozen=True, slots=True)
class Step:
    """One pass of array code."""

    name: str
    reads: tuple[str, ...]  # sizes of the arrays it reads
    writes: str  # size of the array it writes
    over: str = ""
    special: bool = False
    copies: bool = False  # whether it only moves

    @property
    def place(self) -> str:
        """The size its operations are counted over."""
        return self.over or self.writes


@dataclass(frozen=True, slots=True)
class Recipe:
    """An operation as steps."""

    name: str
    steps: tuple[Step, ...]  # in the order plain array code runs them
    inputs: tuple[str, ...]  # sizes of the arrays it takes
    outputs: tuple[str, ...]  # gives

    def cost(self, place: str, rule: Rule) -> float:
        """Operations the recipe does for each number of one size."""
        return sum(
            rule.special if step.special else rule.simple
            for step in self.steps
            if step.place == place and not step.copies
        )

    def passes(self, place: str, rule: Rule) -> int:
        """Times the arrays of one size are moved."""
        moved = [*self.inputs, *self.outputs]
        if rule.passes == "step":
            moved = [size for s in self.steps for size in (*s.reads, s.writes)]
        return moved.count(place)


def operations_of(
    recipe: Recipe, sizes: Mapping[str, Any], rule: Rule, one: Any = 1.0
) -> Any:
    """Operations of a recipe. ``one``: one operation: 1.0, or a quantity in FLOP."""
    return _total(recipe, sizes, lambda place: recipe.cost(place, rule), one)


def numbers_of(recipe: Recipe, sizes: Mapping[str, Any], rule: Rule) -> Any:
    """Numbers a recipe reads and writes."""
    return _total(recipe, sizes, lambda place: recipe.passes(place, rule), 1.0)


def _total(recipe: Recipe, sizes: Mapping[str, Any], weight: Any, one: Any) -> Any:
    asked = {size for s in recipe.steps for size in (*s.reads, s.writes, s.place)}
    missing = (asked | {*recipe.inputs, *recipe.outputs}) - set(sizes)
    if missing:
        raise ValueError(f"{recipe.name}: no size {sorted(missing)[0]!r} is given")
    parts = [
        weight(place) * one * size for place, size in sizes.items() if weight(place)
    ]
    if not parts:
        return 0.0 * one * next(iter(sizes.values()))
    return sum(parts[1:], parts[0])


def _softmax(*before: Step) -> tuple[Step, ...]:
    return (
        *before,
        Step("largest", ("x",), "row", over="x"),
        Step("subtract it", ("x", "row"), "x"),
        Step("exponential", ("x",), "x", special=True),
        Step("sum", ("x",), "row", over="x"),
        Step("divide by it", ("x", "row"), "x"),
    )


def _root(count: str) -> tuple[Step, ...]:
    """From a sum to the divisor of a norm, once a row."""
    return (
        Step(f"divide by {count}", ("row",), "row"),
        Step("add epsilon", ("row",), "row"),
        Step("root", ("row",), "row", special=True),
    )


_X = ("x",)
SOFTMAX = Recipe("softmax", _softmax(), _X, _X)
SCALED_SOFTMAX = Recipe("softmax", _softmax(Step("scale", _X, "x")), _X, _X)
MASKED_SOFTMAX = Recipe(
    "softmax",
    _softmax(Step("scale", _X, "x"), Step("add the mask", ("x", "mask"), "x")),
    ("x", "mask"),
    _X,
)
LAYER_NORM = Recipe(
    "layer norm",
    (
        Step("sum", _X, "row", over="x"),
        Step("divide by the width", ("row",), "row"),
        Step("subtract the mean", ("x", "row"), "x"),
        Step("square", _X, "x"),
        Step("sum of squares", _X, "row", over="x"),
        *_root("the width"),
        Step("divide by the deviation", ("x", "row"), "x"),
        Step("scale", ("x", "weight"), "x"),
        Step("shift", ("x", "weight"), "x"),
    ),
    ("x", "weight", "weight"),
    _X,
)
RMS_NORM = Recipe(
    "RMS norm",
    (
        Step("square", _X, "x"),
        Step("sum of squares", _X, "row", over="x"),
        *_root("the width"),
        Step("divide by the root", ("x", "row"), "x"),
        Step("scale", ("x", "weight"), "x"),
    ),
    ("x", "weight"),
    _X,
)
GELU = Recipe(  # the tangent form: x (1 + tanh(c (x + a x^3))) / 2
    "GELU",
    (
        Step("square", _X, "x"),
        Step("cube", ("x", "x"), "x"),
        Step("times a", _X, "x"),
        Step("plus x", ("x", "x"), "x"),
        Step("times c", _X, "x"),
        Step("tangent", _X, "x", special=True),
        Step("plus one", _X, "x"),
        Step("times x", ("x", "x"), "x"),
        Step("half", _X, "x"),
    ),
    _X,
    _X,
)
_SILU = (
    Step("negate", _X, "x"),
    Step("exponential", _X, "x", special=True),
    Step("plus one", _X, "x"),
    Step("divide", ("x", "x"), "x"),
)
SILU = Recipe("SiLU", _SILU, _X, _X)
SWIGLU = Recipe("SwiGLU", (*_SILU, Step("times up", ("x", "x"), "x")), ("x", "x"), _X)
ADD = Recipe("add", (Step("add", ("x", "x"), "x"),), ("x", "x"), _X)
BIAS = Recipe("bias", (Step("add", ("x", "weight"), "x"),), ("x", "weight"), _X)
ROTARY = Recipe(  # on both halves of each head; "half" and "table" are half arrays
    "rotary",
    (
        *(Step(f"times {f}", ("half", "table"), "half") for f in ("cosine", "sine")),
        Step("subtract", ("half", "half"), "half"),
        *(Step(f"times {f}", ("half", "table"), "half") for f in ("cosine", "sine")),
        Step("add", ("half", "half"), "half"),
    ),
    ("half", "half", "table", "table"),
    ("half", "half"),
)
TRANSPOSE = Recipe("transpose", (Step("copy", _X, "x", copies=True),), _X, _X)
CROSS_ENTROPY = Recipe(
    "cross-entropy",
    (
        *_softmax()[:4],
        Step("logarithm", ("row",), "row", special=True),
        Step("pick the target's", ("row",), "row", copies=True),
        Step("subtract", ("row", "row"), "row"),
    ),
    _X,
    ("row",),
)
