"""Numbers of the text, said by the cell that computes them.

``say("bank", banks=rule("banks"))`` at the end of a cell stores a number's text and its
derivation in the cell's output, and the prose of any page links it as
``[32](#q:bank.banks)``. In Jupyter it prints a line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from .core import Quantity
from .files import held
from .store import dump
from .times import in_times
from .told import refuse_bare, refuse_mixed

MIME = "application/vnd.stacklib.numbers+json"
_FILE = re.compile(r"\b(?:benchmarks|stacklib)/[\w./-]+\.(?:json|csv|toml)\b")
_NAME = re.compile(r"[a-z0-9_]+")


def printed(quantity: Quantity, unit: str | None, digits: int) -> str:
    """A number as the text has it; a ratio in words where the unit is those words."""
    if unit is not None and "|" in unit:
        return in_times(quantity.to("1").value, unit, digits)
    return quantity.text(unit, digits)


def digest(file: str) -> str:
    """First twelve hex digits of the SHA-256 of a file of the checkout, or nothing."""
    import hashlib

    path = held(file) / file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12] if path.is_file() else ""


def _files(nodes: list[dict[str, Any]]) -> set[str]:
    """Result files and predictions that the sources of some leaves name."""
    sources = (" ".join(map(str, node.get("source", ()))) for node in nodes)
    return {name for text in sources for name in _FILE.findall(text)}


@dataclass(frozen=True, slots=True)
class Said:
    """One number of the text: value, its one sentence, unit and digits to print."""

    quantity: Quantity
    what: str
    unit: str | None = None
    digits: int = 3

    @property
    def text(self) -> str:
        """What stands between the brackets of a link."""
        return printed(self.quantity, self.unit, self.digits)


@dataclass(frozen=True)
class Saying:
    """The numbers of one cell, by their full names; Jupyter shows and stores them."""

    numbers: dict[str, Said]

    def __repr__(self) -> str:
        return "\n".join(f"{name} = {said.text}" for name, said in self.numbers.items())

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": repr(self), MIME: self.stored()}

    def stored(self) -> dict[str, Any]:
        """Texts and derivations as JSON; a node is one string, to be one line."""
        nodes, roots = dump({n: said.quantity for n, said in self.numbers.items()})
        numbers = {
            name: {"text": said.text, "what": said.what, "node": roots[name]}
            | ({"unit": said.unit} if said.unit is not None else {})
            | ({"digits": said.digits} if said.digits != 3 else {})
            for name, said in self.numbers.items()
        }
        write = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
        return {
            "numbers": numbers,
            "nodes": list(map(write, nodes)),
            "files": {name: digest(name) for name in sorted(_files(nodes))},
        }


def say(topic: str, /, **numbers: Any) -> Saying:
    """The numbers that this cell computes, for the text to link.

    Parameters
    ----------
    topic : str
        First half of their names: ``bank`` makes ``bank.banks``; it may hold dots.
    **numbers : Quantity or tuple
        A quantity, whose label then says what it is; or ``(quantity, sentence)``,
        ``(quantity, sentence, unit)``, ``(quantity, sentence, unit, digits)``. One to
        four significant digits are printed, three unless said: no BLAS may decide one.
        Three words for a unit, as `in_times` takes them, print a ratio in words.

    Returns
    -------
    Saying
        Last value of a cell: Jupyter prints one line a number and stores derivations.

    Raises
    ------
    ValueError
        For a malformed name, a missing sentence, digits outside 1 to 4, or a number
        with a leaf that does not say what it is (``bare``).
    TypeError
        For a value that is not a Quantity.

    Examples
    --------
    >>> from stacklib.quantity import chosen
    >>> say("loop", room=(chosen(64), "Lines that the cache has room for"))
    loop.room = 64
    """
    for word in topic.split("."):
        if not _NAME.fullmatch(word):
            raise ValueError(f"say({topic!r}): write the topic as 'bank' or 'bank.map'")
    if not numbers:
        raise ValueError(f"say({topic!r}): no numbers; say(topic, name=quantity)")
    return Saying(
        {f"{topic}.{n}": _said(f"{topic}.{n}", x) for n, x in numbers.items()}
    )


def _said(name: str, given: Any) -> Said:
    parts = given if isinstance(given, tuple) else (given,)
    quantity = parts[0] if parts else None
    if not isinstance(quantity, Quantity):
        raise TypeError(
            f"{name}: {quantity!r} has no derivation; say what it is with chosen(), "
            "assumed(why=), counted() or a quantity of a spec"
        )
    refuse_bare(name, quantity)
    refuse_mixed(name, quantity)
    said = Said(*parts) if len(parts) > 1 else Said(quantity, quantity.label)
    what = said.what.strip() if isinstance(said.what, str) else ""
    if not what:
        raise ValueError(f"{name}: say in a sentence what it is")
    if said.digits not in (1, 2, 3, 4):
        raise ValueError(f"{name}: digits={said.digits!r}; print one to four")
    return Said(quantity, what, said.unit, said.digits)
