"""The models of the database: shape, published counts, and the two held together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from stacklib.quantity import Quantity, Source

from .config import from_hf_config
from .language_model import LanguageModel
from .rows import config_of, key_of, names, row


@dataclass(frozen=True, slots=True)
class Published:
    """What a release publishes of its parameters.

    - ``total``: all parameters, with their source
    - ``rounded_to``: what the total is rounded to; 0 when it is exact
    - ``besides``: what the total counts besides the model that answers
    - ``active``: active parameters as the model card prints them
    - ``active_rounded_to``: what those are rounded to
    - ``without_embedding``: whether the card leaves the input embedding out of them
    - ``note``: what a reader of the count should know
    """

    total: Quantity
    rounded_to: int
    besides: tuple[tuple[str, int], ...]
    active: Quantity | None
    active_rounded_to: int
    without_embedding: bool
    note: str


def _source(raw: dict[str, Any]) -> Source:
    return Source(
        raw["title"], raw["where"], raw["seen"].isoformat(), raw["confidence"]
    )


@cache
def _read(key: str) -> tuple[LanguageModel, Published]:
    raw = row(key)
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

    - ``key``, ``name``: the model
    - ``counted``, ``published``: parameters counted from the config; as published
    - ``besides``: of the published, what does not belong to the model that answers
    - ``difference``: counted + besides - published; 0 unless the published count is
      rounded
    - ``rounded_to``: 0 for an exact published count
    - ``why``: what ``besides`` or the rounding is; empty where both counts are equal
    - ``active``, ``active_published``: active parameters, counted as the card does
      (with or without the input embedding); None for a dense model, or a card without
      them
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
