"""Drawings of section 1.2: bytes of a layer, a cache that grows, what is stored."""

from stacklib import models
from stacklib.pages.roofline import counting as page
from stacklib.plots import drawing as d
from stacklib.plots.drawing import scenes
from stacklib.quantity import Quantity, bytes_per_element, chosen

__all__ = ["a_cache_grows", "a_layers_bytes", "fused_and_stored"]


def a_layers_bytes() -> d.Drawing:
    """A layer for one token: bytes in each box and on each edge."""
    return scenes.transformer_layer(page.DEVICE, page.MODEL, name="counting-layer")


def a_cache_grows() -> d.Drawing:
    """Keys and values of one layer: every token adds a column and reads them all."""
    steps = [
        ("the first tokens", _cache(4)),
        ("a little later", _cache(12)),
        ("later still", _cache(24)),
    ]
    title = "Each token adds one column to the cache and reads all that stand there."
    return d.draw(steps, name="counting-cache", title=title)


def _cache(tokens: int) -> d.Node:
    model = models.get(page.MODEL)
    heads = model.size("kv_heads", "KV heads")
    whole = model.kv_bytes_per_token("bf16")
    column = (whole / page.layers()).named("keys and values of a token in one layer")
    many = chosen(tokens, label="tokens so far")
    read = (many * column).named(f"read by token {tokens} in one layer")
    rows = round(heads.si)
    new = frozenset(row * tokens + tokens - 1 for row in range(rows))
    cells = d.Cells(
        "columns",
        rows * tokens,
        tokens,
        side=(9.0, 9.0),
        gap=2.0,
        role="layer-2",
        lit=new,
        words="the new column lit",
    )
    told = [
        d.line("keys and values of one layer", bold=True),
        (heads, " heads down, a column for each token"),
    ]
    said = d.Words([("adds ", d.Shown(column, "kB"), ", reads ", d.Shown(read, "kB"))])
    token = d.Box(
        "the new token", ["the new token", "its key and value"], role="layer-4"
    )
    query = d.Box("its query", ["its query", "meets every column"], role="layer-4")
    cache = d.Box("cache", told, cells, role="layer-2")
    return d.below(d.right_of(query, token), cache, said, gap=8)


def fused_and_stored() -> d.Drawing:
    """Attention on a prompt: its scores stay on the chip, or go to memory and back."""
    steps = [("fused", _attention(False)), ("step by step", _attention(True))]
    title = "The scores are the largest thing in a layer, if somebody stores them."
    return d.draw(steps, name="counting-scores", title=title)


def _attention(stored: bool) -> d.Node:
    model, width = models.get(page.MODEL), bytes_per_element("bf16")
    tokens = page.prompt_tokens()
    hidden = model.size("heads", "query heads") * model.size("head_dim", "head size")
    queries = (tokens * hidden * width).to("B").named("queries of the prompt")
    pairs = tokens * tokens * model.size("heads", "query heads")
    scores = (pairs * width).to("B").named("scores of the prompt")
    inside = d.Cells("scores", 64, 16, side=7.0, gap=1.5, role="layer-4")
    chip = d.Box("chip", d.line("the chip: scores", bold=True), inside, role="layer-3")
    memory = d.Box("memory", d.line("memory", bold=True), role="layer-2")
    thin = _pipe("memory", "chip", queries, scores, "queries ")
    if not stored:
        return d.flow(memory, thin, chip, gap=0)
    back = d.Box("memory again", d.line("memory, again", bold=True), role="layer-2")
    out = _pipe("chip", "memory again", scores, scores, "scores ")
    return d.flow(memory, thin, chip, out, back, gap=0)


def _pipe(start: str, end: str, rate: Quantity, full: Quantity, words: str) -> d.Pipe:
    label = [words, d.Shown(rate, "MB")]
    return d.Pipe(start, end, rate, full, label, role="layer-4", least=60.0)
