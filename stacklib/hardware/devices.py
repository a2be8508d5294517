"""The devices of the database, by name."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from stacklib.quantity import UnknownName, resolve
from stacklib.quantity.names import fold

from .accelerator import Accelerator
from .load import from_dict, read

_DATA = Path(__file__).parent / "data" / "accelerators"
_UNIT = "gb"  # all that may follow the number of a memory
THIS_MACHINE = "this_machine"


@cache
def names() -> tuple[str, ...]:
    """Keys of all devices, ``this_machine`` last."""
    return (*sorted(p.stem for p in _DATA.glob("*.toml")), THIS_MACHINE)


@cache
def _load(key: str) -> Accelerator:
    if key == THIS_MACHINE:
        from .this_machine import book_machine

        return from_dict(book_machine(), THIS_MACHINE)
    return read(_DATA / f"{key}.toml")


def get(name: str) -> Accelerator:
    """The device of this name.

    Case, hyphens, underscores, dots and spaces do not matter. A name that is one of a
    device's aliases means that device: ``"h100"`` is the SXM module, ``"a100"`` the one
    with 80 GB. The start of one key only is enough, too, where it leaves open no more
    than the end of its last word, or the GB of a memory: a word that follows (Ti,
    Super, XT, Ada) and a number are those of another product, a letter behind a number
    (X, D) as well. ``"h100-pc"`` is a card, and ``"rx-9070"`` is not the RX 9070 XT.

    Raises
    ------
    UnknownName
        Otherwise; the last line of the message lists the candidates.
    SpecError
        When the device's file is incomplete or contradicts itself.

    Examples
    --------
    >>> get("h100-sxm").memory_bandwidth.text()
    '3.35 TB/s'
    >>> get("rx-9070")
    Traceback (most recent call last):
    ...
    stacklib.quantity.names.UnknownName: no device 'rx-9070'; another goes on from there
    did you mean: rx_9070_xt
    """
    return _load(
        _key(name) if isinstance(name, str) else resolve(name, names(), "device")
    )


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    typed = fold(name)
    own = next((key for key in names() if fold(key) == typed), "")
    if known := own or _by_alias().get(typed, ""):  # files are read for an alias only
        return known
    key = resolve(name, names(), "device", _families())
    if not _ends_word(typed, key):
        raise UnknownName(
            f"no device {name!r}; another goes on from there\ndid you mean: {key}"
        )
    return key


def _ends_word(typed: str, key: str) -> bool:
    """Whether a key goes on with the end of the last word typed, or a memory's GB."""
    words, into = re.findall("[a-z]+|[0-9]+", key), len(typed)
    while words and into >= len(words[0]):
        into -= len(words.pop(0))
    return words == [_UNIT] or (len(words) == 1 and into > 0 and words[0].isalpha())


@cache
def _heads() -> dict[str, dict[str, Any]]:
    """What stands above the fields of each file, by key."""
    texts = ((path.stem, path.read_text("utf-8")) for path in _DATA.glob("*.toml"))
    return {key: tomllib.loads(text.split("\n[", 1)[0]) for key, text in texts}


def _by_alias() -> dict[str, str]:
    """Folded alias -> key."""
    heads = _heads().items()
    return {fold(a): key for key, head in heads for a in head.get("aliases", [])}


def _families() -> dict[str, list[str]]:
    """Architecture -> keys."""
    found: dict[str, list[str]] = {}
    for key, head in sorted(_heads().items()):
        found.setdefault(head.get("architecture", ""), []).append(key)
    return found
