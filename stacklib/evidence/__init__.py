"""What the book asserts, and how it is held to it.

``numbers``: every computed number of the text, by name. ``claims``: the ledger
of judged claims. ``conflicts``: what published tables got wrong. ``guard``: nothing
shown may be impossible. ``results``: what was measured on our own machines, ``runs``:
that beside what was predicted before. Plain Python throughout.
"""

__all__ = ["claims", "conflicts", "guard", "numbers", "results", "runs"]
