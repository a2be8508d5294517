"""One device of the database, every field a quantity with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from stacklib.quantity import DTYPES, Quantity, resolve
from stacklib.quantity import dtype as find_dtype


class UnknownSpec(LookupError):
    """A field that is not known for this device, or a format it has no unit for."""

    def __str__(self) -> str:
        return str(self.args[0])


class Fields:
    """Fields as attributes, which raise ``UnknownSpec`` where a value is not known."""

    __slots__ = ()
    _known: ClassVar[Mapping[str, tuple[str, str]]]  # field -> unit, reader's words
    if TYPE_CHECKING:
        key: str
        name: str
        fields: Mapping[str, Quantity | None]
    else:  # a type checker would let any name pass

        def __getattr__(self, name: str) -> Quantity:
            if name not in self._known:
                raise AttributeError(_no_field(self, name))
            value = self.fields.get(name)
            if value is None:
                said = self._known[name][1]
                raise UnknownSpec(f"{self.key}: {said} ({name}) is unknown")
            return value

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self._known})

    def __repr__(self) -> str:
        known = sum(value is not None for value in self.fields.values())
        fields = f"{known} of {len(self.fields)} fields known"
        return f"<{type(self).__name__} {self.key}: {self.name}, {fields}>"

    def _repr_html_(self) -> str:
        from stacklib.quantity.face import card

        rows = ((name, self.fields.get(name)) for name in self._known)
        return card(self.name, rows)

    @property
    def estimates(self) -> tuple[str, ...]:
        """Fields that are somebody's estimate, not a published figure."""
        values = self.fields.items()
        return tuple(n for n, q in values if q is not None and q.kind == "assumed")


class Known(Fields):
    """Fields as attributes, of a table that type checkers have no list of."""

    __slots__ = ()
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Quantity: ...


def _no_field(thing: Fields, name: str) -> str:
    said = f"{type(thing).__name__} has no field {name!r}"
    if name.startswith("_"):  # what tools ask any object for
        return said
    import difflib

    near = difflib.get_close_matches(name, dir(thing), 1, 0)
    return f"{said}; did you mean {near[0]}?"


# field -> (unit whose dimension it must have, what the reader sees)
FIELDS: dict[str, tuple[str, str]] = {
    "compute_units": ("", "compute units"),
    "clock": ("Hz", "clock"),
    "tensor_clock": ("Hz", "tensor clock"),
    "max_clock": ("Hz", "highest clock it may run at"),
    "memory_stacks": ("", "memory stacks"),
    "memory_pins": ("", "memory pins"),
    "memory_pin_rate": ("bit/s", "rate per pin"),
    "memory_bandwidth": ("B/s", "memory bandwidth"),
    "memory_capacity": ("B", "memory capacity"),
    "l2_capacity": ("B", "last-level cache"),
    "shared_per_unit": ("B", "shared memory per unit"),
    "registers_per_unit": ("B", "registers per unit"),
    "max_threads_per_unit": ("", "threads per unit"),
    "max_warps_per_unit": ("", "warps per unit"),
    "max_blocks_per_unit": ("", "blocks per unit"),
    "link": ("B/s", "scale-up link"),
    "link_domain": ("", "devices in one scale-up domain"),
    "host_link": ("B/s", "host link"),
    "tdp": ("W", "design power"),
    "dies": ("", "compute dies"),
    "die_area": ("m2", "die area"),
    "transistors": ("", "transistors"),
    "cloud_price": ("USD/s", "cloud price"),
    "purchase_price": ("USD", "purchase price"),
}

# Fields that a record may leave out; they are unknown then.
RARE = frozenset({"max_clock"})

# What may stand behind the "/" of a peak's key.
ACCUMULATORS = (*DTYPES, "int32", "tensor")


@dataclass(frozen=True, slots=True)
class Peak:
    """Dense arithmetic rate of one format."""

    rate: Quantity  # FLOP/s (or OP/s for integers), dense, a chip
    per_unit_per_cycle: Quantity | None = None
    clock: str = "tensor_clock"  # the field whose clock belongs to the rate
    accumulate: str = ""  # format of the accumulator
    sparse_factor: float = 1.0  # gain printed for sparsity; 1 where there is none
    note: str = ""  # what the printed rate leaves out


class DeviceFields(Fields):
    """The fields of a device for type checkers, which read no table: as `FIELDS`."""

    __slots__ = ()
    compute_units: Quantity
    clock: Quantity
    tensor_clock: Quantity
    max_clock: Quantity
    memory_stacks: Quantity
    memory_pins: Quantity
    memory_pin_rate: Quantity
    memory_bandwidth: Quantity
    memory_capacity: Quantity
    l2_capacity: Quantity
    shared_per_unit: Quantity
    registers_per_unit: Quantity
    max_threads_per_unit: Quantity
    max_warps_per_unit: Quantity
    max_blocks_per_unit: Quantity
    link: Quantity
    link_domain: Quantity
    host_link: Quantity
    tdp: Quantity
    dies: Quantity
    die_area: Quantity
    transistors: Quantity
    cloud_price: Quantity
    purchase_price: Quantity


@dataclass(frozen=True, slots=True, repr=False)
class Accelerator(DeviceFields):
    """A device: names, fields, peaks.

    Fields are attributes (``device.memory_bandwidth``) and raise ``UnknownSpec``
    where the value is not known; ``device.fields`` holds None there.

    ``peaks`` is keyed by format; a key such as ``"fp16/fp16"`` is the same format with
    another accumulator, and ``"fp64/tensor"`` FP64 on the tensor cores.
    ``inconsistent`` names the published figures that contradict each other, by field
    or ``"peak.<key>"``, with the reason.
    """

    _known: ClassVar = FIELDS
    key: str
    name: str
    short: str
    vendor: str
    year: int
    kind: str
    architecture: str
    compute_capability: str
    process: str
    memory_type: str
    fields: Mapping[str, Quantity | None]
    peaks: Mapping[str, Peak]
    notes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    inconsistent: Mapping[str, str] = field(
        default_factory=lambda: MappingProxyType({})
    )
    aliases: tuple[str, ...] = ()
    link_key: str = ""
    host_link_key: str = ""

    def __hash__(self) -> int:
        # Equal devices have equal keys; what is kept by a device may be asked with one.
        return hash(self.key)

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats with a published dense rate to multiply in.

        Not one that is slower than fp32, as 16 bits are by 64 times on a P40.
        """
        whole = self.peaks.get("fp32")
        least = 0.0 if whole is None else whole.rate.si
        return tuple(
            name
            for name, peak in self.peaks.items()
            if "/" not in name and (DTYPES[name].bits > 32 or peak.rate.si >= least)
        )

    def peak(
        self, dtype: str, sparse: bool = False, accumulate: str | None = None
    ) -> Quantity:
        """Arithmetic rate of a format, dense unless asked for the sparse one.

        Parameters
        ----------
        sparse : bool
            The rate the vendor prints for structured sparsity.
        accumulate : str, optional
            An accumulator, such as ``"fp16"``, or ``"tensor"`` for FP64 on tensor
            cores. Without it the rate that LLM work uses (FP32 accumulation).

        Raises
        ------
        UnknownName
            When no such number format exists.
        UnknownSpec
            When this device publishes no rate for it, or none with sparsity.
        """
        peak = self.peaks[self._peak_key(dtype, accumulate)]
        if not sparse:
            return peak.rate
        if peak.sparse_factor == 1:
            raise UnknownSpec(
                f"{self.key} publishes no 2:4-sparse {find_dtype(dtype).name} rate"
            )
        return peak.rate.retag("sparse", peak.sparse_factor)

    def peak_clock(self, dtype: str, accumulate: str | None = None) -> Quantity:
        """The clock behind a printed rate; where none is printed, the implied one."""
        peak = self.peaks[self._peak_key(dtype, accumulate)]
        printed, each = self.fields[peak.clock], peak.per_unit_per_cycle
        if printed is not None:
            return printed
        if each is None:
            return self.clock  # UnknownSpec where that is not known either
        implied = peak.rate / (self.compute_units * each)
        return implied.named(f"{self.short} clock implied by its {dtype} peak")

    def peak_at_clock(self, dtype: str, accumulate: str | None = None) -> Quantity:
        """The printed rate marked with its clock, to be met by a cache's at the same.

        A memory has a clock of its own, and ``peak`` is divided by its bandwidth. A
        cache runs with the units: its rate and the peak make a ridge at one clock only.
        """
        rate = self.peaks[self._peak_key(dtype, accumulate)].rate
        return rate.at_clock(self.peak_clock(dtype, accumulate))

    def _peak_key(self, dtype: str, accumulate: str | None) -> str:
        name = find_dtype(dtype).name
        if accumulate is not None:
            wanted = resolve(accumulate, ACCUMULATORS, "accumulator")
            own = self.peaks.get(name)
            if own is None or own.accumulate != wanted:
                name = f"{name}/{wanted}"
        if name not in self.peaks:
            raise UnknownSpec(
                f"{self.key} publishes no {name} rate; it has "
                f"{', '.join(self.peaks) or 'none'}"
            )
        return name
