"""Rows of the database, and the names that people have for them.

A row is a file of ``data``. ``ids`` are the names under which releases of that shape
are downloaded, tuned ones among them; ``like`` names the row whose config it shares
but for the fields that it gives itself; ``null`` names those that a release says to be
null, where the type's own class has a value. A release in other than 16 bits says so in
its config's ``quantization_config``; one in another format is another row.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.quantity import UnknownName, resolve
from stacklib.quantity.names import FEW, fold

_DATA = Path(__file__).parent / "data"


@cache
def names() -> tuple[str, ...]:
    """Keys of all models."""
    return tuple(sorted(p.stem for p in _DATA.glob("*.toml")))


@cache
def row(key: str) -> dict[str, Any]:
    """The row of this key as its file has it."""
    raw = tomllib.loads((_DATA / f"{key}.toml").read_text(encoding="utf-8"))
    for name in raw.get("null", ()):
        *tables, last = name.split(".")
        table = raw["config"]
        for one in tables:
            table = table[one]
        table[last] = None
    return raw


def config_of(key: str) -> dict[str, Any]:
    """The config of a row, with what it takes from another."""
    raw = row(key)
    own: dict[str, Any] = raw.get("config", {})
    return _over(config_of(raw["like"]), own) if "like" in raw else own


def _over(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """``shared`` with the fields of ``own`` in it, those of nested tables too."""
    nested = {
        name: _over(shared[name], value)
        for name, value in own.items()
        if isinstance(value, dict) and name in shared
    }
    return {**shared, **own, **nested}


@cache
def _keys() -> dict[str, str]:
    """Folded keys, and the key each stands for."""
    return {fold(key): key for key in names()}


@cache
def _aliases() -> dict[str, str]:
    """Folded names, with and without the organisation, and the key each stands for."""
    found: dict[str, str] = {}
    for key in names():
        for one in row(key).get("ids", ()):
            found[fold(one)] = key
            found.setdefault(fold(one.split("/")[-1]), key)
    return found | _keys()


# What a typed prefix may leave open: the rest of a word begun, and how many parameters
# a token uses, which follows from the size.
_FOLLOWS = re.compile(r"[a-z]*(-a\d+(\.\d+)?b)?")


def _rest(key: str, typed: str) -> str | None:
    """What a folded prefix leaves open of a key; None where it is no prefix of it."""
    for end in range(1, len(key) + 1):
        if fold(key[:end]) == typed:
            return key[end:]
    return None


def key_of(name: str) -> str:
    """The key of the row that a name stands for.

    Case, hyphens, underscores and dots do not matter. Exact: a key, an id as releases
    have it (``meta-llama/Llama-3.1-8B-Instruct``), or an id without its organisation.
    Else a prefix of one key alone, where that leaves open neither release nor size:
    only the rest of a word begun (``llama-4-sc``) or the active parameters after the
    size (``qwen3-30b``). ``llama-3.1`` leaves the size open, ``mistral-7b`` the
    release, and ``glm-4.5`` is not ``glm-4.5-air``.

    - raises ``UnknownName`` when no row or several answer to it; the last line lists
      candidates
    """
    typed = fold(name) if isinstance(name, str) else ""
    if key := _keys().get(typed):
        return key  # files are read for an alias only
    known = _aliases()
    if typed in known:
        return known[typed]
    open_ = {key: rest for key in names() if (rest := _rest(key, typed)) is not None}
    if len(open_) == 1:
        [(key, rest)] = open_.items()
        if _FOLLOWS.fullmatch(rest):
            return key
    if typed and open_:
        several = (
            "could be several" if len(open_) > 1 else "leaves release or size open"
        )
        listed = ", ".join([*open_][:FEW])
        raise UnknownName(f"model {name!r} {several}\ndid you mean: {listed}")
    last = name.split("/")[-1] if typed else name  # the organisation is like nothing
    # somebody's copy, or a format behind the name
    if typed and (held := [one for one in known if one in fold(last)]):
        same = known[max(held, key=len)]
        raise UnknownName(f"unknown model {name!r}\ndid you mean: {same}")
    return resolve(last, names(), "model", exact=True)  # says what is like it
