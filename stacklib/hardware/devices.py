"""The devices of the database, by name."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from stacklib.quantity import UnknownName, resolve
from stacklib.quantity.names import fold

from .accelerator import Accelerator
from .load import from_dict, read
from .this_machine import book_machine

_DATA = Path(__file__).parent / "data" / "accelerators"
THIS_MACHINE = "this_machine"


@cache
def names() -> tuple[str, ...]:
    """Keys of all devices, ``this_machine`` last."""
    return (*sorted(p.stem for p in _DATA.glob("*.toml")), THIS_MACHINE)


@cache
def _load(key: str) -> Accelerator:
    if key == THIS_MACHINE:
        return from_dict(book_machine(), THIS_MACHINE)
    return read(_DATA / f"{key}.toml")


def get(name: str) -> Accelerator:
    """The device of this name.

    Case, hyphens and underscores do not matter, and a unique prefix is enough. A
    name that is one of a device's aliases means that device: ``"h100"`` is the SXM
    module, ``"a100"`` the one with 80 GB.

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
    """
    return _load(
        _key(name) if isinstance(name, str) else resolve(name, names(), "device")
    )


@lru_cache(maxsize=4096)
def _key(name: str) -> str:
    try:
        return resolve(name, names(), "device")
    except UnknownName:
        key = _by_alias().get(fold(name), "")
        return key or resolve(name, names(), "device", _families())


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
