"""The drawing of section 8.1: a GPU's memory, a conversation in it, and a token."""

from __future__ import annotations

from stacklib import hardware, models
from stacklib.pages.serving import fits as page
from stacklib.plots import drawing as d
from stacklib.quantity import bytes_per_element, chosen

__all__ = ["memory_of_a_gpu"]
CACHE, WEIGHTS, WIDTH = "layer-2", "layer-4", 300.0  # points of the whole memory


def memory_of_a_gpu() -> d.Drawing:
    """Weights, what the engine keeps back, and blocks; a conversation opened."""
    found, device = page.machine(), hardware.get(page.DEVICE)
    chips = chosen(page.TP, label="chips")
    parts = [
        ("weights", found.weights, WEIGHTS, False),
        ("blocks", found.left, CACHE, True),
        ("kept back", found.reserve, "muted", False),
    ]
    boxes = [
        d.Box(
            name,
            [name, d.Shown((bytes / chips).named(f"{name}, a GPU's share"), "GB")],
            role=role,
            lit=lit,
            room=(WIDTH * (bytes / found.have).si, 46.0),
            grow=bytes.si / found.have.si,
        )
        for name, bytes, role, lit in parts
    ]
    told = d.line(f"one of eight {device.short}s: ", device.memory_capacity, bold=True)
    memory = d.Box("memory", told, d.right_of(*boxes, gap=3), role="muted")
    scene = d.below(
        memory,
        d.Opened("blocks", "a conversation"),
        _conversation(),
        d.Opened("lit block", "a token"),
        _token(),
        gap=2,
    )
    title = "What weights and engine leave is filled by conversations, block by block."
    return d.draw(scene, name="serving-memory", title=title, devices=[page.DEVICE])


def _conversation() -> d.Node:
    """Blocks of the running case; one is opened."""
    tokens = chosen(page.CONTEXT, label="tokens of a conversation")
    size = page.page_tokens()
    many = tokens / size
    first = d.Cells("lit block", 1, side=9.0, role=CACHE, lit=frozenset({0}))
    rest = d.Cells(
        "its other blocks", int(many.si) - 1, (85, 51), (3.6, 9.0), 0.6, CACHE
    )
    held = (tokens, " tokens: ", many.named("blocks of a conversation"), " blocks of ")
    told = (*held, size, " tokens, ", page.machine().each)
    words = [d.line("a conversation", bold=True), told]
    inside = d.right_of(first, rest, gap=4, grow=0)
    return d.Box("a conversation", words, inside, role=CACHE)


def _token() -> d.Node:
    """What a token leaves, as a product."""
    model = models.get(page.MODEL)
    layers = model.size("layers", "layers").named("layers that keep keys and values")
    heads = model.size("kv_heads", "KV heads")
    size, width = model.size("head_dim", "head size"), bytes_per_element("bf16")
    key, value = (
        d.Box(word, [word, (size, " numbers")], role=CACHE) for word in ("key", "value")
    )
    words = [d.line("a token", bold=True), (layers, " layers x ", heads, " KV heads x")]
    foot = d.Words([("x ", width, " = ", page.per_token(), " a token")])
    return d.Box(
        "a token", words, d.below(d.right_of(key, value, gap=4), foot), role=CACHE
    )
