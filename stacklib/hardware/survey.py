"""How much of the device database is known, from where, and how well it agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stacklib.quantity import Quantity

from .accelerator import Accelerator
from .crosscheck import gaps, unwitnessed
from .link_gaps import Gap
from .second_sources import rows


@dataclass(frozen=True, slots=True)
class Audit:
    """Counts over devices, and where their figures agree worst."""

    devices: int  # devices looked at
    own: int
    inherited: int
    unknown: int
    confidence: Mapping[str, int]
    second: int  # figures that another source confirms
    alone: tuple[tuple[str, str], ...]  # device and field: one source, no relation
    gaps: tuple[Gap, ...]  # every relation between published figures, the widest first
    inconsistent: tuple[tuple[str, str, str], ...]

    @property
    def agreeing(self) -> tuple[Gap, ...]:
        """The gaps that no remark explains, the widest first."""
        return tuple(gap for gap in self.gaps if not gap.why)

    @property
    def alone_by_field(self) -> Mapping[str, list[str]]:
        """Devices by the field that stands alone; peaks of all formats are one."""
        found: dict[str, list[str]] = {}
        for device, field in self.alone:
            name, _, form = field.partition(".")
            found.setdefault(name, []).append(f"{device} {form}".rstrip())
        return found

    @property
    def fields(self) -> int:
        """Fields and peaks in all, known or not."""
        return self.own + self.inherited + self.unknown


def entries(device: Accelerator) -> dict[str, Quantity | None]:
    """Every field of a device, None where unknown; ``"peak <key>"`` for each peak."""
    peaks = {f"peak {name}": peak.rate for name, peak in device.peaks.items()}
    return {**device.fields, **peaks}


def audit(devices: Iterable[Accelerator]) -> Audit:
    """Where the figures of these devices come from, and how well they agree."""
    chosen = list(devices)
    values = [value for device in chosen for value in entries(device).values()]
    sources = [v.source for v in values if v is not None and v.source is not None]
    inherited = sum(source.inherited for source in sources)
    found = [gap for device in chosen for gap in gaps(device)]
    return Audit(
        devices=len(chosen),
        own=len(sources) - inherited,
        inherited=inherited,
        unknown=sum(value is None for value in values),
        confidence=dict(Counter(source.confidence for source in sources)),
        second=sum(len(rows().get(device.key, ())) for device in chosen),
        alone=tuple((d.key, field) for d in chosen for field in unwitnessed(d)),
        gaps=tuple(sorted(found, key=lambda gap: -abs(gap.gap))),
        inconsistent=tuple(
            (device.key, place, why)
            for device in chosen
            for place, why in device.inconsistent.items()
        ),
    )
