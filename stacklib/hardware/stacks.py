"""HBM stacks: generations, counts of vias, base dies, and single facts with sources.

``stack_generation("hbm3e")`` holds what a generation adds to ``memory("hbm3e")``:
pseudo-channels, burst, dies, size. ``via_counts``, ``base_dies`` and ``stack_fact`` are
what makers and the press have said of a stack's inside.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from stacklib.quantity import Quantity, one_of, resolve

from .accelerator import Known
from .load import SpecError
from .memories import Memory, memory
from .sourced import read_fields, read_source, read_value

DATA = Path(__file__).parent / "data" / "stacks.toml"

# field -> (unit whose dimension it must have, what the reader sees)
STACK_FIELDS: dict[str, tuple[str, str]] = {
    "published": ("", "year of the document"),
    "pseudo_channels": ("", "pseudo-channels of a channel"),
    "burst": ("", "beats of a burst"),
    "fastest_rate": ("bit/s", "fastest rate a maker ships"),
    "module_height": ("m", "height of the module"),
    "width": ("m", "width of a stack"),
    "depth": ("m", "depth of a stack"),
}


@dataclass(frozen=True, slots=True, repr=False)
class StackGeneration(Known):
    """One generation of HBM.

    Fields are attributes (``generation.burst``) and raise ``UnknownSpec`` where the
    value is not known.
    """

    _known: ClassVar = STACK_FIELDS
    key: str
    name: str
    document: str
    memory: Memory  # pins, rate, channels, heights and bandwidth of one stack
    dies: tuple[int, ...]
    fields: Mapping[str, Quantity | None]
    notes: Mapping[str, str]

    @property
    def top_rate(self) -> Quantity:
        """The highest rate of a pin: a maker's where it beats the document's."""
        shipped = self.fields["fastest_rate"]
        return self.memory.pin_rate if shipped is None else shipped


@dataclass(frozen=True, slots=True)
class ViaCount:
    """Through-silicon vias as a maker counts them: at least so many."""

    name: str
    dies: int
    a_die: Quantity | None
    a_stack: Quantity | None


@dataclass(frozen=True, slots=True)
class BaseDie:
    """Process of a base die; ``node`` is None where no number is named."""

    maker: str
    generation: str
    process: str
    node: Quantity | None
    state: str
    source: str


def generation_from_dict(
    key: str, raw: dict[str, Any], sources: dict[str, Any], where: str
) -> StackGeneration:
    """A generation from parsed TOML."""
    place = f"{where}: {key}"
    wanted = ("name", "memory", "document", "source", "dies", "fields")
    missing = [k for k in wanted if k not in raw]
    if missing:
        raise SpecError(f"{place}: {missing[0]} is missing")
    one = memory(raw["memory"])
    read = read_fields(
        raw["fields"], sources, raw["source"], place, raw["name"], STACK_FIELDS
    )
    pseudo = read.values["pseudo_channels"]
    parts = one.channels.si * (1 if pseudo is None else pseudo.si)
    if one.pins.si % parts:
        raise SpecError(f"{place}: {one.pins.si:g} pins are not {parts:g} equal parts")
    return StackGeneration(
        key,
        raw["name"],
        raw["document"],
        one,
        tuple(raw["dies"]),
        MappingProxyType(dict(read.values)),
        MappingProxyType(dict(read.notes)),
    )


@cache
def _raw() -> dict[str, Any]:
    return tomllib.loads(DATA.read_text(encoding="utf-8"))


@cache
def _generations() -> dict[str, StackGeneration]:
    sources, found = _raw()["sources"], _raw()["generations"]
    return {k: generation_from_dict(k, r, sources, DATA.name) for k, r in found.items()}


def stack_generations() -> tuple[str, ...]:
    """Keys of all HBM generations, oldest first."""
    return tuple(_generations())


def stack_generation(name: str) -> StackGeneration:
    """The HBM generation of this name; case, hyphens and underscores do not matter.

    Raises
    ------
    UnknownName
        When none answers to it; the last line lists the candidates.
    SpecError
        When the file is incomplete.

    Examples
    --------
    >>> stack_generation("HBM3e").burst.text()
    '8'
    """
    return _generations()[resolve(name, stack_generations(), "HBM generation")]


def _value(entry: dict[str, Any], place: str, words: str) -> Quantity:
    bare = {k: v for k, v in entry.items() if k != "words"}
    unit = bare.get("unit", "")
    return read_value(bare, _raw()["sources"], "", f"{DATA.name}: {place}", words, unit)


@cache
def via_counts() -> tuple[ViaCount, ...]:
    """Counts of through-silicon vias that makers have published."""
    found = []
    for key, raw in _raw()["vias"].items():
        values = {
            part: _value(raw[part], f"{key}.{part}", f"{raw['name']}, vias {words}")
            for part, words in (("a_die", "a die"), ("a_stack", "a stack"))
            if part in raw
        }
        a_die, a_stack = values.get("a_die"), values.get("a_stack")
        found.append(ViaCount(raw["name"], raw["dies"], a_die, a_stack))
    return tuple(found)


@cache
def stack_fact(name: str) -> Quantity:
    """A single sourced fact of HBM.

    Parameters
    ----------
    name : str
        Such as ``"thin_die"`` or ``"phy_energy"``.

    Raises
    ------
    UnknownName
        When there is no such fact; the last line lists the candidates.
    """
    facts = _raw()["facts"]
    key = resolve(name, tuple(facts), "fact of a stack")
    return _value(facts[key], key, facts[key]["words"])


@cache
def accesses() -> Mapping[str, tuple[Quantity, Quantity]]:
    """Bits of the part addressed by itself and beats of a burst, by kind of memory.

    Stacked generations first, each split into its pseudo-channels.
    """
    found = {}
    for generation in _generations().values():
        one = generation.memory
        pins = one.pins * one_of("bit", "bits a pin moves in a beat")
        parts = one.channels * generation.pseudo_channels
        found[generation.name] = (pins / parts, generation.burst)
    for key, raw in _raw()["accesses"].items():
        words = (
            f"{raw['name']}, bits of a channel",
            f"{raw['name']}, beats of a burst",
        )
        found[raw["name"]] = (
            _value(raw["width"], f"{key}.width", words[0]),
            _value(raw["burst"], f"{key}.burst", words[1]),
        )
    return MappingProxyType(found)


@cache
def base_dies() -> tuple[BaseDie, ...]:
    """Base dies by maker and generation, as reported."""
    found = []
    for key, raw in _raw()["base_dies"].items():
        place = f"{DATA.name}: {key}"
        source = read_source(_raw()["sources"], raw["source"], place, own=True)
        node = None
        if "node" in raw:
            entry = {"source": raw["source"], **raw["node"]}
            words = f"{raw['maker']} {raw['generation']} base die, node"
            node = _value(entry, key, words)
        texts = (raw["maker"], raw["generation"], raw["process"])
        seen = f"{source.title}, {source.where}"
        found.append(BaseDie(*texts, node, raw["state"], seen))
    return tuple(found)
