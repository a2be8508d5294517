"""Finding an entry by the name a person types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

V = TypeVar("V")
FEW = 24  # names that a message may list
ALIKE = 0.6  # how like a name has to be that is offered; "nosuch" is like none


class UnknownName(LookupError):
    """No entry, or more than one, answers to a name; the last line lists which."""

    def __str__(self) -> str:
        return str(self.args[0])


@lru_cache(maxsize=4096)
def fold(name: str) -> str:
    """A name without case, hyphens, underscores, dots and spaces."""
    return "".join(c for c in name.lower() if c not in "-_ .")


def resolve(
    name: str,
    known: Iterable[str],
    what: str,
    families: Mapping[str, Iterable[str]] | None = None,
    *,
    exact: bool = False,
) -> str:
    """The key a name stands for: exact after folding, else a unique prefix.

    Parameters
    ----------
    name : str
        As typed; case, hyphens, underscores, dots and spaces do not matter.
    known : iterable of str
        The keys there are.
    what : str
        What is being named, for the message: ``device``, ``model``, ...
    families : mapping of str to iterable of str, optional
        Words that name several things, and what to offer for each: ``mx``.
    exact : bool
        Whether a prefix is refused too: *fp3* is no format, and never fp32.

    Raises
    ------
    UnknownName
        When nothing or several keys match; the last line of the message is
        ``did you mean: a, b, c``.
    """
    keys = list(known)
    if not isinstance(name, str) or not fold(name):
        raise UnknownName(f"a {what} is named by text, not {name!r}\n{_known(keys)}")
    wanted = fold(name)
    same = [k for k in keys if fold(k) == wanted]
    if same:
        return same[0]
    starts = [k for k in keys if fold(k).startswith(wanted)]
    if len(starts) == 1 and not exact:
        return starts[0]
    for word, family in (families or {}).items():
        if fold(word) == wanted:
            starts = [*family]
    if starts:
        why = f"{what} {name!r} could be several"
        why = f"unknown {what} {name!r}" if len(starts) == 1 else why
        raise UnknownName(f"{why}\ndid you mean: {', '.join(starts[:FEW])}")
    near = ", ".join(_near(name, {fold(k): k for k in keys}))
    hint = f"did you mean: {near}" if near else _known(keys)
    raise UnknownName(f"unknown {what} {name!r}\n{hint}")


def resolve_all(
    given: Mapping[str, V], known: Iterable[str], what: str, *, exact: bool = False
) -> dict[str, V]:
    """Values by the keys that their names stand for, each as `resolve` finds it.

    - raises ``UnknownName`` as it does, ``ValueError`` where two names are one key
    """
    keys = list(known)
    found = {resolve(name, keys, what, exact=exact): v for name, v in given.items()}
    if len(found) < len(given):
        raise ValueError(f"{', '.join(given)}: one {what} is told twice")
    return found


def _near(typed: str, folded: dict[str, str]) -> list[str]:
    """Names that hold the word, else like it or with a word of it, or begin like it."""
    import difflib

    wanted = fold(typed)
    holds = [key for name, key in folded.items() if wanted in name]
    if len(wanted) > 2 and 0 < len(holds) <= FEW:
        return holds
    like = ALIKE if len(wanted) > 3 else 0.5  # one of two letters: "l4" for "l2"
    if alike := difflib.get_close_matches(wanted, folded, 3, like):
        return [folded[name] for name in alike]
    share = [key for key in folded.values() if _words(key) & _words(typed)]
    if 0 < len(share) <= FEW:
        return share
    begins = dict.fromkeys(n[: len(wanted)] for n in folded if len(wanted) > 3)
    first = tuple(difflib.get_close_matches(wanted, begins, 1, 0.75))
    return [key for name, key in folded.items() if name.startswith(first)][:FEW]


def _words(name: str) -> set[str]:
    """The words of a name that say something."""
    return {word for word in re.split(r"[-_ .]+", name.lower()) if len(word) > 3}


def _known(keys: list[str]) -> str:
    """All names where they are few, else how many there are and some of them."""
    if len(keys) <= FEW:
        return f"known: {', '.join(sorted(keys))}"
    return f"known: {', '.join(sorted(keys)[:3])} and {len(keys) - 3} more"
