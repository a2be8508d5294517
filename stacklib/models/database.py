"""The models of the database: shape, published counts, and the two held together.

A row is a file of ``data``. ``ids`` are the names under which releases of that shape
are downloaded, tuned ones among them; ``like`` names the row whose config it shares but for the
fields that it gives itself.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from stacklib.quantity import Quantity, Source, UnknownName, resolve
from stacklib.quantity.names import FEW, fold

from .config import from_hf_config
from .language_model import LanguageModel

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Published:
    """What a release publishes of its parameters.

    Parameters
    ----------
    total : Quantity
        All parameters, with their source.
    rounded_to : int
        What the total is rounded to; 0 when it is exact.
    besides : tuple of (str, int)
        What the total counts besides the model that answers.
    active : Quantity, optional
        Active parameters as the model card prints them.
    active_rounded_to : int
        What those are rounded to.
    without_embedding : bool
        Whether the card leaves the input embedding out of them.
    note : str
        What a reader of the count should know.
    """

    total: Quantity
    rounded_to: int
    besides: tuple[tuple[str, int], ...]
    active: Quantity | None
    active_rounded_to: int
    without_embedding: bool
    note: str


@cache
def names() -> tuple[str, ...]:
    """Keys of all models."""
    return tuple(sorted(p.stem for p in _DATA.glob("*.toml")))


@cache
def _raw(key: str) -> dict[str, Any]:
    return tomllib.loads((_DATA / f"{key}.toml").read_text(encoding="utf-8"))


def config_of(key: str) -> dict[str, Any]:
    """The config of a row, with what it takes from another."""
    raw = _raw(key)
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
def _aliases() -> dict[str, str]:
    """Folded names, with and without the organisation, and the key each stands for.

    A short name that two rows have (none does) would stand for neither.
    """
    found: dict[str, str] = {}
    for key in names():
        for one in _raw(key).get("ids", ()):
            found[fold(one)] = key
            found.setdefault(fold(one.split("/")[-1]), key)
    return found | {fold(key): key for key in names()}


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

    Raises
    ------
    UnknownName
        When no row or several answer to it; the last line lists candidates.
    """
    typed = fold(name) if isinstance(name, str) else ""
    known = _aliases()
    if typed in known:
        return known[typed]
    open_ = {key: rest for key in names() if (rest := _rest(key, typed)) is not None}
    if len(open_) == 1:
        [(key, rest)] = open_.items()
        if _FOLLOWS.fullmatch(rest):
            return key
    if typed and open_:
        several = "could be several" if len(open_) > 1 else "leaves release or size open"
        listed = ", ".join([*open_][:FEW])
        raise UnknownName(f"model {name!r} {several}\ndid you mean: {listed}")
    if typed and (same := known.get(fold(name.split("/")[-1]))):
        raise UnknownName(f"unknown model {name!r}\ndid you mean: {same}")
    return resolve(name, names(), "model")  # says what is like it


def _source(raw: dict[str, Any]) -> Source:
    return Source(
        raw["title"], raw["where"], raw["seen"].isoformat(), raw["confidence"]
    )


@cache
def _read(key: str) -> tuple[LanguageModel, Published]:
    raw = _raw(key)
    source, count = _source(raw["source"]), _source(raw["count"])
    model = from_hf_config(config_of(key), key=key, name=raw["name"], source=source)
    card, active = raw.get("active"), None
    if card:
        active = Quantity(
            card["printed"],
            label="published active",
            source=count,
            kind="spec",
            key=f"{key}.published active",
        )
    total = Quantity(
        raw["published_parameters"],
        label="published parameters",
        source=count,
        kind="spec",
        key=f"{key}.published parameters",
    )
    card = card or {"rounded_to": 0, "without_embedding": False}
    return model, Published(
        total=total,
        rounded_to=raw.get("rounded_to", 0),
        besides=tuple(raw.get("besides", {}).items()),
        active=active,
        active_rounded_to=card["rounded_to"],
        without_embedding=card["without_embedding"],
        note=raw.get("note", ""),
    )


def get(name: str) -> LanguageModel:
    """The model of this name, or of this id of a release; see ``key_of``.

    Raises
    ------
    UnknownName
        When no model or several answer to it; the last line lists candidates.

    Examples
    --------
    >>> get("llama-3-70b").parameters.text()
    '70.6 billion'
    >>> get("meta-llama/Llama-3.1-8B-Instruct").key
    'llama-3.1-8b'
    """
    return _read(key_of(name))[0]


def published(name: str) -> Published:
    """What the release publishes, exact or rounded, and what it includes.

    Parameters
    ----------
    name : str
        A model, as ``get`` takes it.
    """
    return _read(key_of(name))[1]


def published_parameters(name: str) -> Quantity:
    """The parameter count the release publishes, to hold the counted one to.

    Parameters
    ----------
    name : str
        A model, as ``get`` takes it.
    """
    return published(name).total


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One model's counted parameters against the published ones.

    Parameters
    ----------
    key, name : str
        The model.
    counted, published : int
        Parameters counted from the config; as published.
    besides : int
        Of the published, what does not belong to the model that answers.
    difference : int
        counted + besides - published; 0 unless the published count is rounded.
    rounded_to : int
        0 for an exact published count.
    why : str
        What ``besides`` or the rounding is; empty where both counts are equal.
    active, active_published : int or None
        Active parameters, counted as the card does (with or without the input
        embedding); None for a dense model, or a card without them.
    """

    key: str
    name: str
    counted: int
    published: int
    besides: int
    difference: int
    rounded_to: int
    why: str
    active: int | None
    active_published: int | None

    @property
    def holds(self) -> bool:
        """Whether the two agree, to the last parameter or the published digit."""
        return abs(self.difference) <= self.rounded_to // 2


def audit() -> list[AuditRow]:
    """Every model: parameters counted, published, and the difference explained.

    Examples
    --------
    >>> all(row.holds for row in audit())
    True
    """
    return [_audit(key) for key in names()]


def _audit(key: str) -> AuditRow:
    model, said = _read(key)
    counted, total = int(model.parameters.si), int(said.total.si)
    besides = sum(count for _, count in said.besides)
    why = [f"{count:,} {words}" for words, count in said.besides]
    if said.rounded_to:
        why.append(f"published rounded to {said.rounded_to:,}")
    active = None
    if model.experts is not None:
        way = model.streamed_parameters if said.without_embedding else None
        active = int((way or model.active_parameters).si)
    return AuditRow(
        key=key,
        name=model.name,
        counted=counted,
        published=total,
        besides=besides,
        difference=counted + besides - total,
        rounded_to=said.rounded_to,
        why="; ".join(why),
        active=active,
        active_published=int(said.active.si) if said.active is not None else None,
    )
