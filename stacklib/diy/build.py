"""A machine as a list of parts: ``Build``, by names of the catalogue or from TOML.

A build is plain data. Its fields are parts of ``cost.part``; a name is looked up, with
the nearest one where there is none, and ``"2 x rtx_5090"`` is two of them. Beside the
parts stand the choices that cost nothing: which slot a card goes into, how the power
cables run, on how many circuits the supplies hang, at which power limit the cards run.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from stacklib.cost import catalogue
from stacklib.cost.catalogue import Component
from stacklib.quantity import resolve
from stacklib.quantity.bounds import above_zero, whole

# field -> kind of its parts; those of MANY may hold several.
KIND_OF = {
    "gpus": "gpu",
    "cpu": "cpu",
    "board": "board",
    "memory": "memory",
    "psu": "psu",
    "storage": "storage",
    "case": "case",
    "cooling": "cooler",
    "risers": "riser",
    "cables": "cable",
    "bridges": "cable",
}
MANY = ("gpus", "memory", "psu", "storage", "risers", "cables", "bridges")
OPTIONAL = ("storage", "risers", "cables", "bridges")
NEEDED = [field for field in KIND_OF if field not in OPTIONAL]
# field -> the fact that a part of use there has, and what is said of another
USES = {"cables": ("watts", "carries no power"), "bridges": ("bridge", "is no bridge")}
MOST = 64  # parts in one field
Parts = tuple[Component, ...]


def table(name: str, key: str = "key") -> dict[str, dict[str, str]]:
    """Rows of one of the room's files of words, by a column."""
    (path,) = Path(__file__).parent.rglob(f"{name}.csv")
    rows = csv.DictReader(path.read_text("utf-8").splitlines())
    return {row.pop(key): row for row in rows}


@dataclass(frozen=True, slots=True)
class Build:
    """A machine: parts, and how they are put together.

    Parameters
    ----------
    gpus, memory, psu, storage : str, Component or sequence of them
        Cards, kits of memory, supplies and drives; ``"2 x rtx_5090"`` is two.
    cpu, board, case, cooling : str or Component
        One of each.
    risers, cables, bridges : str, Component or sequence of them
        Risers and power cables, one a card in the order of ``gpus`` (one alone is for
        every card); bridges between cards.
    slots : sequence of str
        The slot of each card; chosen by lanes and room where none is named.
    circuits : int
        Circuits that the supplies hang on, at most one a supply.
    limit : float, optional
        Power limit of every card in W; its design power without one.
    peer : bool
        Whether cards shall read each other's memory.

    Raises
    ------
    UnknownName
        For a part that the catalogue lacks; the last line lists the nearest.
    ValueError
        For a field that must have a part and has none or several.

    Examples
    --------
    >>> rig = Build(gpus="2 x rtx_3090", cpu="epyc_7302", board="romed8_2t",
    ...     memory="8 x ksm32r_32", psu="evga_1600_p2", storage="990_pro_2tb",
    ...     case="enthoo_pro_2_server", cooling="nh_u14s_tr4")
    >>> len(rig.gpus), rig.board.name
    (2, 'ASRock Rack ROMED8-2T')
    """

    gpus: Any
    cpu: Any
    board: Any
    memory: Any
    psu: Any
    storage: Any
    case: Any
    cooling: Any
    risers: Any = ()
    cables: Any = ()
    bridges: Any = ()
    slots: Any = ()
    circuits: int = 1
    limit: float | None = None
    peer: bool = False

    def __post_init__(self) -> None:
        for field, kind in KIND_OF.items():
            found = tuple(_parts(getattr(self, field), kind, field))
            if not found and field in NEEDED:
                raise ValueError(f"{field}: a build needs a {kind}")
            if field not in MANY and len(found) > 1:
                names = ", ".join(one.name for one in found)
                raise ValueError(f"{field}: one {kind} fits, not {len(found)}: {names}")
            object.__setattr__(self, field, found if field in MANY else found[0])
        slots = (self.slots,) if isinstance(self.slots, str) else self.slots
        if not isinstance(slots, list | tuple):
            raise ValueError(f"slots = {slots!r}: write the names of slots, a list")
        object.__setattr__(self, "slots", tuple(slots))
        whole(circuits=self.circuits)
        cards, supplies = len(self.gpus), len(self.psu)
        if self.circuits > supplies:
            says = f"{supplies} supplies hang on {supplies} at most"
            raise ValueError(f"circuits = {self.circuits}: {says}")
        if self.limit is not None:
            above_zero(limit=self.limit)
        if not isinstance(self.peer, bool):
            raise ValueError(f"peer = {self.peer!r}: true or false is needed")
        for field in ("risers", "cables", "slots"):
            many = len(getattr(self, field))
            if many > cards or (field == "slots" and 0 < many < cards):
                raise ValueError(f"{field}: {many} for {cards} cards")
        for field, (fact, says) in USES.items():
            for cable in getattr(self, field):
                if fact not in cable.values:
                    raise ValueError(f"{field}: {cable.name} {says}")

    def with_(self, **changes: Any) -> Build:
        """The same build with ``changes``: other parts or choices, by field."""
        return replace(self, **changes)

    def swapped(self, **changes: Any) -> Build:
        """The same with ``changes`` that are parts already, or choices: no look-up."""
        other = object.__new__(Build)
        for field in Build.__slots__:
            object.__setattr__(other, field, changes.get(field, getattr(self, field)))
        return other

    def held(self, field: str) -> Parts:
        """The parts of a field."""
        value = getattr(self, field)
        return value if field in MANY else (value,)

    def parts(self) -> Parts:
        """Every part, as often as it is there."""
        return tuple(part for field in KIND_OF for part in self.held(field))

    @property
    def dollars(self) -> float:
        """What the parts cost at their newest prices; raises where one is unknown."""
        return sum(part.dollars for part in self.parts())


def _parts(value: Any, kind: str, field: str) -> Iterable[Component]:
    if isinstance(value, str | Component):
        value = (value,)
    if not isinstance(value, Iterable) or isinstance(value, Mapping):
        raise ValueError(f"{field} = {value!r}: write the name of a {kind}, or a list")
    found: list[Component] = []
    for one in value:
        if isinstance(one, Component):
            if one.kind != kind:
                raise ValueError(f"{field}: {one.name} is a {one.kind}, no {kind}")
            found.append(one)
        elif isinstance(one, str):
            times = re.fullmatch(r"\s*(\d+)\s*[x×*]\s+(.+)", one)
            many, name = (int(times[1]), times[2]) if times else (1, one)
            if not 1 <= many <= MOST:
                raise ValueError(f"{field} = {one!r}: 1 to {MOST} of one part")
            found += [catalogue.part(name, kind)] * many
        else:
            raise ValueError(f"{field} = {one!r}: a {kind} is named by text")
    if len(found) > MOST:
        raise ValueError(f"{field}: {len(found)} parts; at most {MOST}")
    return found


def read_build(text: str) -> Build:
    """A build from TOML: one line a field, by the names that ``Build`` takes.

    Parameters
    ----------
    text : str
        The file's text.

    Raises
    ------
    UnknownName
        For a field that a build does not have; the last line lists the nearest.
    ValueError
        For text that is no TOML, or that lacks a field.

    Examples
    --------
    >>> read_build('gpus = "2 x rtx_5090"')
    Traceback (most recent call last):
    ...
    ValueError: the build lacks cpu, board, memory, psu, case, cooling: name each
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise ValueError(f"no build in TOML: {wrong}") from None
    known = [field.name for field in fields(Build)]
    told = {resolve(f, known, "field of a build", exact=True): raw[f] for f in raw}
    if missing := [field for field in NEEDED if field not in told]:
        raise ValueError(f"the build lacks {', '.join(missing)}: name each")
    return Build(**{"storage": (), **told})
