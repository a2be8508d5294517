"""The seven layers of the stack, and what the source documents call them.

Document 000 counts from the top and has no layer for money, document 001 counts from
the bottom and has none for kernels or links. ``here`` finds the book's layer for one of
theirs, ``there`` theirs for one of the book's.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.quantity import resolve


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the stack."""

    number: int  # from 1, the transistor, to 7, the invoice
    name: str
    question: str  # what it decides
    chapters: tuple[int, ...]  # where the book explains it


STACK = (
    Layer(1, "silicon and package", "What can be built at all?", (2, 3)),
    Layer(2, "memory", "How fast do the bytes come?", (3,)),
    Layer(3, "chip", "How much arithmetic is there, and who feeds it?", (2, 5)),
    Layer(4, "kernels and formats", "How few bytes does an answer need?", (4, 7)),
    Layer(5, "interconnect", "What can chips do together?", (6,)),
    Layer(6, "serving", "Who waits, and for how long?", (8,)),
    Layer(7, "economics", "What does a token cost?", (8, 9, 10)),
)
LAYERS = {layer.number: layer.name for layer in STACK}

# document -> (its level, its word, our layer), in its own order
NUMBERINGS = {
    "000": (
        (1, "serving", 6),
        (2, "kernels", 4),
        (3, "compute", 3),
        (4, "memory", 2),
        (5, "within a node", 5),
        (6, "between nodes", 5),
        (7, "silicon", 1),
    ),
    "001": (
        (1, "silicon", 1),
        (2, "memory", 2),
        (3, "GPU", 3),
        (4, "inference", 6),
        (5, "agents", 6),
        (6, "economics", 7),
    ),
}


def here(document: str, level: int) -> Layer:
    """The book's layer that a document's level falls into."""
    rows = NUMBERINGS[resolve(document, NUMBERINGS, "document with layers")]
    for number, _, ours in rows:
        if number == level:
            return STACK[ours - 1]
    raise ValueError(f"document {document} has L1 to L{len(rows)}, no L{level}")


def there(layer: int, document: str) -> tuple[str, ...]:
    """What a document calls one of the book's layers; empty where it has none."""
    if layer not in LAYERS:
        raise ValueError(f"layer {layer!r}: 1 to {len(LAYERS)}")
    rows = NUMBERINGS[resolve(document, NUMBERINGS, "document with layers")]
    return tuple(f"L{number} {word}" for number, word, ours in rows if ours == layer)
