"""What stands between the brackets of a computed link, by the name of its number."""

from collections.abc import Callable
from pathlib import Path

from _tools import prose, said, tree

Lookup = Callable[[str], str]


def stored(root: Path = tree.ROOT) -> Lookup:
    """The text of each number as its cell stored it."""
    numbers = said.numbers(root)
    return lambda name: said.get(numbers, name).text


def refresh(text: str, lookup: Lookup) -> str:
    """`text` with every computed link's bracket rewritten to what `lookup` says."""
    for link in reversed(prose.links(text)):
        start, end = link.span("text")
        text = text[:start] + lookup(link["name"]) + text[end:]
    return text
