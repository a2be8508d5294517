"""What each text is run on, and the slips that can be told apart.

A slip is a line of the text and what stands in its place. Who makes it, in whatever
words, gets the numbers that it gives, and so its sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import launches as on
from . import written


@dataclass(frozen=True, slots=True)
class Case:
    """One text: how it is launched, and what must come out."""

    kernels: on.Kernels
    what: str
    launch: Callable[..., on.Found]
    right: Callable[[], list[float]]
    sizes: Mapping[str, int]  # that a reader may change
    slips: Mapping[str, tuple[str, str]]


CASES = {
    "norm": Case(
        (written.norm,),
        "the layer norm of each row",
        on.launch_norm,
        on.right_norm,
        {"BLOCK": 1024},
        {
            "lanes past the row hold -mean and are squared with the rest, so that the "
            "variance is too large": (
                "tl.where(inside, values - mean, 0.0)",
                "values - mean",
            ),
            "the mean is taken over all lanes, not over the row": (
                "tl.sum(values, axis=0) / columns",
                "tl.sum(values, axis=0) / BLOCK",
            ),
            "the row is not multiplied by its weight": (" * scale", ""),
        },
    ),
    "product": Case(
        (written.product,),
        "a @ b",
        on.launch_product,
        on.right_product,
        {"SIDE": 16, "STEP": 16},
        {
            "only the last step along K is left: each tl.dot begins from zero": (
                "tl.dot(a_tile, b_tile, sums)",
                "tl.dot(a_tile, b_tile)",
            )
        },
    ),
    "attend": Case(
        (written.attend,),
        "softmax(q @ k.T / sqrt(D)) @ v, causal",
        on.launch_attend,
        on.right_attend,
        {"TILE": 16},
        {
            "the scores are not divided by sqrt(D)": (" * D**-0.5", ""),
            "the sum shrinks where the maximum rises, the output does not": (
                "sums * shrink)",
                "sums)",
            ),
            "the output shrinks where the maximum rises, the sum does not": (
                "total * shrink",
                "total",
            ),
            "queries see keys that come after them": (
                'tl.where(tl.trans(key) <= row, scores, float("-inf"))',
                "scores",
            ),
            "the output is not divided by the sum of its weights": (
                "sums / total",
                "sums",
            ),
            "the maximum is not carried on, so each tile forgets those before it": (
                "most = new",
                "most = most",
            ),
        },
    ),
    "piece": Case(
        (written.piece, written.merge),
        "the attention of one query to all keys",
        on.launch_pieces,
        on.right_pieces,
        {"TILE": 16},
        {
            "each piece counts by a maximum of its own: shares are not brought to the "
            "largest of all": ("share * tl.exp(top - tl.max(top, axis=0))", "share"),
            "the scores are not divided by sqrt(D)": (" * D**-0.5", ""),
            "every piece counts the same, whatever its weights": (
                "tl.load(total + at, mask=at < pieces, other=0.0)",
                "tl.where(at < pieces, 1.0, 0.0)",
            ),
        },
    ),
    "scaled": Case(
        (written.scaled,),
        "the product of codes times scales",
        on.launch_scaled,
        on.right_scaled,
        {"SIDE": 16},
        {
            "every group of a row of a has the scale of the first": (
                "row * (K // GROUP) + group",
                "row * (K // GROUP)",
            ),
            "every column of b has the scales of the first block": (
                "column // GROUP * (K // GROUP) + group",
                "column * 0 + group",
            ),
            "the scales of a are read in another order than they lie in": (
                "row * (K // GROUP) + group",
                "group * 32 + row",
            ),
        },
    ),
    "score": Case(
        (written.score, written.pick),
        "the largest of logit plus noise, for each seed",
        on.launch_draw,
        on.right_draw,
        {"TILE": 4},
        {
            "every tile draws the same noise, so tokens of two tiles win and lose "
            "together": ("tl.rand(seed, at)", "tl.rand(seed, at - tile * TILE)"),
            "no noise: the likeliest token every time": ("logits + noise", "logits"),
            "the place within the tile is taken for the token": (
                "tile * TILE + tl.argmax",
                "tl.argmax",
            ),
        },
    ),
}
