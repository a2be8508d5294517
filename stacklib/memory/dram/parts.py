"""DRAM channels as rows of a table: organisation, timings, refresh, each with a source.

One entry is what one command bus controls: a DDR4 channel, a DDR5 sub-channel, an HBM
pseudo-channel. ``DramPart.clocks`` turns its nanoseconds into whole clocks of the
command bus, rounded up as a controller must.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from stacklib.hardware import SpecError
from stacklib.hardware.accelerator import Known
from stacklib.hardware.sourced import read_fields, read_toml
from stacklib.quantity import Quantity, one_of, resolve

_DATA = Path(__file__).parent / "data" / "dram.toml"
# field -> (unit whose dimension it must have, what the reader sees)
FIELDS: dict[str, tuple[str, str]] = {
    "width": ("bit", "data pins of the channel"),
    "pin_rate": ("bit/s", "rate of a pin"),
    "per_clock": ("", "transfers a clock of the command bus"),
    "transfers": ("", "transfers of a burst"),
    "sids": ("", "stack ids: sets of dies that share the pins"),
    "groups": ("", "bank groups of a stack id"),
    "banks": ("", "banks of a group"),
    "row": ("B", "bytes of a row"),
    "cl": ("s", "CL, read to data"),
    "cwl": ("s", "CWL, write to data"),
    "rcd": ("s", "tRCD, activate to read"),
    "rcd_write": ("s", "tRCDWR, activate to write"),
    "rp": ("s", "tRP, precharge"),
    "ras": ("s", "tRAS, activate to precharge"),
    "rc": ("s", "tRC, activate to activate of a bank"),
    "wr": ("s", "tWR, end of written data to precharge"),
    "rtp": ("s", "tRTP, read to precharge"),
    "rrd_s": ("s", "tRRD_S, activate to activate"),
    "rrd_l": ("s", "tRRD_L, activate to activate in one group"),
    "faw": ("s", "tFAW, window of four activates"),
    "wtr_s": ("s", "tWTR_S, end of written data to read"),
    "wtr_l": ("s", "tWTR_L, the same in one group"),
    "ccd_s": ("", "tCCD_S, clocks between bursts"),
    "ccd_l": ("", "tCCD_L, clocks between bursts of one group"),
    "ccd_l_write": ("", "tCCD_L_WR, clocks between writes of one group"),
    "ccd_r": ("", "tCCD_R, clocks between reads of two stack ids"),
    "ppd": ("", "tPPD, clocks between precharges"),
    "guard": ("", "clocks the bus rests between reading and writing"),
    "rfc": ("s", "tRFC, refresh of all banks"),
    "rfc_bank": ("s", "tRFCsb or tRFCpb, refresh of some banks"),
    "refi": ("s", "tREFI, average interval of refreshes"),
    "refreshes": ("", "refreshes that reach every row"),
    "rrefd": ("s", "tRREFD, refresh of a bank to the next activate"),
}
# What a standard without the rule, or a part that adds up, leaves out.
OPTIONAL = ("sids", "rc", "ccd_r", "ppd")
REFRESH = ("all", "some", "none")
# Which banks one command of the finer kind refreshes.
REFRESHED = ("all", "same", "per")
TEXTS = ("name", "short", "refreshed", "buses", "source", "fields")


class Clocks(NamedTuple):
    """Timings in whole clocks of the command bus; the names of the standards.

    ``groups`` are those of all ``sids`` together. ``sets`` is how many refreshes take
    turns over the banks (1: each takes them all) and ``refi`` the clocks from one of
    them to the next, 0 for none.
    """

    sids: int
    groups: int
    banks: int
    dual: bool
    bl: int
    cl: int
    cwl: int
    rcd: int
    rcdw: int
    rp: int
    ras: int
    rc: int
    wr: int
    rtp: int
    rrd_s: int
    rrd_l: int
    faw: int
    wtr_s: int
    wtr_l: int
    ccd_s: int
    ccd_l: int
    ccd_l_wr: int
    ccd_r: int
    ppd: int
    rtw: int
    rfc: int
    refi: int
    rrefd: int
    sets: int


@dataclass(frozen=True, slots=True, repr=False)
class DramPart(Known):
    """One kind of channel.

    Fields are attributes (``part.rcd``) and raise ``UnknownSpec`` where the value is
    not known.
    """

    _known: ClassVar = FIELDS
    key: str
    name: str
    short: str
    refreshed: str
    buses: int  # command buses: 2 where rows and columns have their own
    fields: Mapping[str, Quantity | None]  # quantities by name, None where unknown

    @property
    def burst(self) -> Quantity:
        """Bytes that one read or write moves."""
        return (self.width * self.transfers).to("B").named(f"{self.short} burst")

    @property
    def bandwidth(self) -> Quantity:
        """Bytes a second when the data bus never rests."""
        rate = self.width / one_of("bit", "bit of a pin") * self.pin_rate
        return rate.to("B/s").named(f"{self.short} peak of the channel")

    @property
    def burst_time(self) -> Quantity:
        """Time a burst holds the data bus."""
        return (self.burst / self.bandwidth).to("s").named(f"{self.short} burst time")

    @property
    def rc(self) -> Quantity:
        """tRC, from one activate of a bank to its next: as stated, or tRAS + tRP."""
        stated = self.fields.get("rc")
        whole = self.ras + self.rp if stated is None else stated
        return whole.named(f"{self.short} tRC, row cycle")

    @property
    def bank_count(self) -> Quantity:
        """Banks of all groups."""
        groups = self.groups
        if self._optional("sids"):
            groups = self.sids * groups
        return (groups * self.banks).named(f"{self.short} banks")

    @property
    def clock(self) -> float:
        """Seconds of one clock of the command bus."""
        return self.per_clock.si / self.pin_rate.si

    def at(self, pin_rate: Quantity) -> DramPart:
        """The same channel with another ``pin_rate``; its nanoseconds stay."""
        if not isinstance(pin_rate, Quantity) or not pin_rate.to("bit/s").si > 0:
            raise ValueError(f"pin_rate = {pin_rate!r}: a Quantity in bit/s is needed")
        fields = MappingProxyType({**self.fields, "pin_rate": pin_rate})
        return DramPart(
            self.key, self.name, self.short, self.refreshed, self.buses, fields
        )

    def clocks(self, refresh: str = "all") -> Clocks:
        """The timings in clocks."""
        if refresh not in REFRESH:
            raise ValueError(f"refresh = {refresh!r}: one of {', '.join(REFRESH)}")
        if refresh == "some" and self.refreshed == "all":
            raise ValueError(f"{self.short} refreshes all banks at once: refresh='all'")
        sids, banks = self._optional("sids") or 1, self._whole("banks")
        groups = sids * self._whole("groups")
        bl = self._whole("transfers") // self._whole("per_clock")
        ras, rp, cl, cwl = (self._ceil(n) for n in ("ras", "rp", "cl", "cwl"))
        sets = 1
        if refresh == "some":
            sets = banks if self.refreshed == "same" else groups * banks
        interval = 0 if refresh == "none" else math.floor(self.refi.si / self.clock)
        return Clocks(
            sids=sids, groups=groups, banks=banks, dual=self.buses == 2,
            bl=bl, cl=cl, cwl=cwl, rcd=self._ceil("rcd"),
            rcdw=self._ceil("rcd_write"), rp=rp, ras=ras,
            rc=max(ras + rp, self._ceil("rc")),
            wr=self._ceil("wr"), rtp=self._ceil("rtp"),
            rrd_s=self._ceil("rrd_s"), rrd_l=self._ceil("rrd_l"),
            faw=self._ceil("faw"), wtr_s=self._ceil("wtr_s"),
            wtr_l=self._ceil("wtr_l"), ccd_s=self._whole("ccd_s"),
            ccd_l=self._whole("ccd_l"), ccd_l_wr=self._whole("ccd_l_write"),
            ccd_r=self._optional("ccd_r"), ppd=self._optional("ppd"),
            rtw=cl + bl + self._whole("guard") - cwl,
            rfc=self._ceil("rfc_bank" if refresh == "some" else "rfc"),
            refi=interval // sets,
            rrefd=0 if self.fields["rrefd"] is None else self._ceil("rrefd"),
            sets=sets,
        )  # fmt: skip

    def _optional(self, name: str) -> int:
        """A count that some standards do not have; 0 there."""
        return 0 if self.fields.get(name) is None else self._whole(name)

    def _whole(self, name: str) -> int:
        return int(getattr(self, name).si)

    def _ceil(self, name: str) -> int:
        # A hundredth of a clock is how the standards round a time down to clocks.
        return max(1, math.ceil(getattr(self, name).si / self.clock - 0.01))


def _read(key: str, raw: dict, sources: dict, like: DramPart | None) -> DramPart:
    missing = [name for name in TEXTS if name not in raw]
    if missing or raw["refreshed"] not in REFRESHED:
        said = missing[0] if missing else f"refreshed = {raw['refreshed']!r}"
        raise SpecError(f"dram.toml: {key}: {said} is wrong or missing")
    place = f"dram.toml: {key}"
    # A field that an entry does not state is that of the part it is like.
    base = {} if like is None else like.fields
    read = read_fields(
        raw["fields"], sources, raw["source"], place, raw["short"], FIELDS,
        (*OPTIONAL, *base),
    )  # fmt: skip
    return DramPart(
        key,
        raw["name"],
        raw["short"],
        raw["refreshed"],
        raw["buses"],
        MappingProxyType({**base, **read.values}),
    )


@cache
def _parts() -> dict[str, DramPart]:
    raw = read_toml(_DATA)
    sources = raw.pop("sources")
    parts: dict[str, DramPart] = {}
    for key, entry in raw.items():
        parts[key] = _read(key, entry, sources, parts.get(entry.get("like", "")))
    return parts


def dram_names() -> tuple[str, ...]:
    """Keys of all channels, in file order."""
    return tuple(_parts())


def dram_part(name: str) -> DramPart:
    """The channel of this name; case, hyphens and underscores do not matter.

    Raises
    ------
    UnknownName
        When none or several answer to it; the last line lists the candidates.

    Examples
    --------
    >>> part = dram_part("DDR5-6400")
    >>> part.bandwidth.text(), part.burst.text(), part.clocks().rc
    ('25.6 GB/s', '64 B', 149)
    """
    return _parts()[resolve(name, dram_names(), "DRAM channel")]
