"""Drawings of section 7.5: a super-block in bytes, a file, and a weight's way."""

from typing import Any

from stacklib.pages.quantizers import files as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, one_of
from stacklib.quantizers.scheme import fact

__all__ = [
    "a_super_block",
    "the_file_beside_memory",
    "the_file_in_parts",
    "the_way_of_a_weight",
]
ROW = 16  # bytes of a drawn row
WIDE = fact("bf16", "bits", "bit", label="bits of an operand in bf16")


def _bytes(
    name: str, count: Quantity, role: str, lit: set[int] | None = None
) -> d.Cells:
    across = min(ROW, round(count.si))
    return d.Cells(
        name,
        round(count.si),
        across,
        side=(15.0, 11.0),
        gap=2.0,
        role=role,
        lit=frozenset(lit or ()),
    )


def a_super_block() -> d.Drawing:
    """Byte by byte: two numbers in fp16, scales, and codes in pairs of blocks."""
    two = (page.ends_bytes() / 2).named("each fp16")
    head = d.right_of(
        _bytes("d", two, "layer-6"),
        _bytes("d least", two, "layer-4"),
        _bytes("scales", page.scale_bytes(), "layer-5"),
        gap=2,
        grow=0,
    )
    codes = _bytes("codes", page.code_bytes(), "layer-3", set(range(2 * ROW)))
    told = [d.line("a super-block: ", d.Shown(page.block(), "B"), bold=True)]
    inside = d.below(head, codes, gap=2, grow=0)
    words = d.below(
        d.Box("fp16", ["d and d least", ("fp16: ", page.ends_bytes())], role="layer-6"),
        d.Box(
            "six bits",
            [
                "scale and least of each block",
                ("six bits each: ", page.scale_bytes()),
            ],
            role="layer-5",
        ),
        d.Box(
            "nibbles",
            [
                ("codes: ", page.code_bytes()),
                "lit: one block in the low",
                "nibbles, the next in the high",
            ],
            role="layer-3",
        ),
        gap=6,
    )
    title = "Most of a super-block is codes; its scales have scales of their own."
    scene = d.flow(d.Box("super-block", told, inside, role="muted"), words, gap=12)
    return d.draw(scene, name="q-super-block", title=title)


# format of tensors: what it holds, and its colour
TENSORS = {
    "q4_k": ("in Q4_K", "layer-3"),
    "q5_0": ("in Q5_0", "layer-4"),
    "fp32": ("norms in fp32", "layer-6"),
}


def the_file_beside_memory() -> d.Drawing:
    """A file from its first byte on, and where each part of it goes."""
    facts = d.Shown(page.part("words and facts"), "kB")
    parts: list[d.Node] = [
        d.Box(
            "facts",
            ["header, facts, words,", ("tensors' table: ", facts)],
            role="layer-2",
        )
    ]
    copies: list[d.Node] = []
    edges = [d.Edge("file/facts", "host memory/kept", arrow="end", role="layer-2")]
    for scheme, (words, role) in TENSORS.items():
        size = d.Shown(page.held(scheme).named(f"{words}, bytes"), "kB")
        parts.append(
            d.Box(f"{scheme} in the file", [d.line(d.Name(words)), size], role=role)
        )
        copies.append(
            d.Box(f"{scheme} in memory", [d.line(d.Name(words)), size], role=role)
        )
        ends = f"file/{scheme} in the file", f"GPU memory/{scheme} in memory"
        edges.append(d.Edge(*ends, arrow="end", role=role))
    file = d.Box(
        "file",
        [d.line("the file", bold=True)],
        d.below(*parts, gap=8),
        role="muted",
    )
    host = d.Box(
        "host memory",
        [d.line("host memory", bold=True)],
        d.Box("kept", ["tokenizer, sizes,", "tensors' places"], role="layer-2"),
        role="muted",
    )
    chip = d.Box(
        "GPU memory",
        [d.line("GPU memory", bold=True)],
        d.below(*copies, gap=8),
        role="muted",
    )
    scene = d.right_of(file, d.below(host, chip, gap=10), gap=64)
    title = "A file is copied to memory part by part, and its codes stay codes."
    return d.draw(d.joined(scene, *edges), name="q-file-memory", title=title)


def the_file_in_parts() -> d.Drawing:
    """Bytes of the book's file, one part after the other."""
    roles = ("layer-3", "layer-5", "layer-4", "layer-6", "layer-2")
    at, have = 0 * one_of("B"), page.size()
    rows: list[d.Node] = []
    told = {
        "codes": "codes of four bits",
        "scales": "scales",
        "fallback": "what the fallback takes more",
        "norms": "gains of the norms, fp32",
        "words and facts": "vocabulary, facts, table of tensors",
    }
    for (name, words), role in zip(told.items(), roles, strict=True):
        end = (at + page.part(name)).named(f"{name}, end")
        label = [(f"{words}: ", d.Shown(page.part(name), "kB"))]
        rows.append(d.Clip(name, at, end, have, label, role=role, grow=0))
        at = end
    told_size = have.named("all of the file")
    rows.append(
        d.Box("file", [("the file: ", d.Shown(told_size, "kB", 4))], role="muted")
    )
    title = "A file is more than its codes: scales, another format, and a vocabulary."
    return d.draw(d.below(*rows, gap=7), name="q-file", title=title)


def the_way_of_a_weight() -> d.Drawing:
    """From the file to the tensor core, expanded in the SM or not at all."""
    title = "Codes travel packed; where they are expanded, the tensor core decides."
    packed = page.block_bits().named("bits of a weight, Q4_K, packed")
    four = page.block_bits("nvfp4").named("bits of a weight, NVFP4, packed")
    scene = d.below(
        _way("W4A16", packed, "registers: expanded", WIDE, "products of bf16"),
        _way("W4A4", four, "registers: as they are", four, "products of FP4, scaled"),
        gap=14,
    )
    return d.draw(scene, name="q-weight-way", title=title)


def _way(name: str, held: Quantity, place: str, last: Quantity, core: str) -> d.Node:
    stops: list[tuple[str, list[Any], str]] = [
        (f"{name}: file", [d.line(name, bold=True), "file"], "muted"),
        (f"{name}: HBM", ["HBM", "packed"], "layer-2"),
        (f"{name}: SM", ["SM", *place.split(": ")], "layer-3"),
        (f"{name}: core", ["tensor core", core], "layer-4"),
    ]
    nodes: list[d.Node] = []
    for number, (stop, words, role) in enumerate(stops):
        if number:
            rate = last if number == len(stops) - 1 else held
            nodes.append(
                d.Pipe(stops[number - 1][0], stop, rate, WIDE, d.Shown(rate, "bit", 2))
            )
        nodes.append(d.Box(stop, words, role=role))
    return d.flow(*nodes, gap=3)
