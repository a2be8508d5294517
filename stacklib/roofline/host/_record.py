"""What was measured on this machine: points, ceilings, and their JSON form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from stacklib.hardware.host_spec import BOOK_ROOFLINE, ROOFLINE, roofline_file
from stacklib.quantity import Quantity, Source
from stacklib.quantity.bounds import is_whole
from stacklib.quantity.files import held
from stacklib.quantity.told import MARK

KIND = "host_roofline"
# operation -> what one call of it counts; `call` points have no work worth a rate
WORK = {"triad": "B", "read": "B", "gemm": "FLOP", "gemv_call": "", "gemm_call": ""}
FIELDS = (
    "device",
    "driver",
    "clocks",
    "versions",
    "date",
    "mode",
    "kernel",
    "blas",
    "others",
)


@dataclass(frozen=True)
class Point:
    """One measured point, with its raw times."""

    op: str
    dtype: str
    threads: int  # threads used (for BLAS: threads it was allowed)
    size: int  # working set in bytes for streams, n for a GEMM of n x n x n
    work: float
    times_s: tuple[float, ...]  # seconds a call, one for each sample

    def __post_init__(self) -> None:
        if self.op not in WORK:
            raise ValueError(f"op {self.op!r}: use one of {', '.join(WORK)}")
        if self.dtype not in ("fp32", "fp64"):
            raise ValueError(f"dtype {self.dtype!r} of {self.id}: use fp32 or fp64")
        numbers = (self.threads, self.size, self.work, *self.times_s)
        if not self.times_s or not all(_positive(x) for x in numbers):
            raise ValueError(
                f"{self.id}: threads, size, work and times_s must be positive, finite "
                f"numbers, not {(self.threads, self.size, self.work, self.times_s)!r}"
            )

    @property
    def id(self) -> str:
        """Stable name, for example ``triad-fp64-t2-65536``."""
        return f"{self.op}-{self.dtype}-t{self.threads}-{self.size}"

    @property
    def rate(self) -> float:
        """Work a second of the fastest sample: a ceiling is what was reached once."""
        return self.work / min(self.times_s)

    @property
    def median_rate(self) -> float:
        """Work a second of the median sample."""
        return self.work / median(self.times_s)

    @property
    def spread(self) -> tuple[float, float]:
        """Lowest and highest rate among the samples."""
        return self.work / max(self.times_s), self.rate


def _positive(x: object) -> bool:
    number = isinstance(x, float) or is_whole(x)
    return number and math.isfinite(x) and x > 0  # type: ignore[arg-type,operator]


@dataclass(frozen=True)
class HostRoofline:
    """The roofline of this machine as measured.

    Attributes
    ----------
    device, driver : CPU, and the BLAS with the threads it was allowed
    clocks : what the system shows; not controlled
    versions : Python, NumPy, numba
    date : ISO date of the run
    mode : ``quick`` or ``full``
    kernel : which stream kernel ran (numba or NumPy blocks)
    blas : threads allowed, where that was read, and cores busy during a GEMM
    others : cores that other processes kept busy meanwhile; None if not known
    machine : ``stacklib.hardware.this_machine.Machine.as_dict()``
    points : every measured point
    file : where the record stands, from the top of the checkout if it is there
    """

    device: str
    driver: str
    clocks: str
    versions: Mapping[str, str]
    date: str
    mode: str
    kernel: str
    blas: Mapping[str, Any]
    others: float | None
    machine: Mapping[str, Any]
    points: tuple[Point, ...]
    file: str = ROOFLINE

    def stream(self, op: str = "triad", threads: int | None = None) -> list[Point]:
        """Points of ``op`` by working set; ValueError where none was measured.

        Parameters
        ----------
        op : str
            ``triad`` or ``read``.
        threads : int, optional
            All cores by default.
        """
        found = [p for p in self.points if p.op == op]
        wanted = max((p.threads for p in found), default=0) if not threads else threads
        found = [p for p in found if p.threads == wanted]
        if not found:
            have = sorted({(p.op, p.threads) for p in self.points})
            raise ValueError(f"no {op!r} points with {threads} threads; have {have}")
        return sorted(found, key=lambda p: p.size)

    def bandwidth_at(
        self, working_set: Any, op: str = "read", threads: int | None = None
    ) -> Any:
        """Bandwidth of the measured point nearest in ratio to a working set.

        Parameters
        ----------
        working_set
            Bytes: a number or ``Quantity`` gives a ``Quantity`` in B/s whose
            source is the measured point; an array gives an array in B/s.
        op
            ``read`` for a matrix that is only read, ``triad`` for read and write.
        threads
            All cores by default.

        Raises
        ------
        ValueError
            For a working set that is not above zero.
        """
        points = self.stream(op, threads)
        if getattr(working_set, "shape", ()) != ():
            import numpy

            rates = numpy.array([p.rate for p in points])
            return rates[_nearest_array(points, working_set)]
        size = working_set
        if isinstance(size, Quantity):
            size = size.to("B").si
        if not _positive(size):
            raise ValueError(f"working set {working_set!r}: give bytes above zero")
        point = min(points, key=lambda p: abs(math.log(p.size / size)))
        return self.quantity(point, f"{op} bandwidth at {_bytes(point.size)}")

    def peak(self, dtype: str) -> Quantity:
        """Fastest GEMM of the sweep, its BLAS's ceiling; ValueError without one."""
        sweep = [p for p in self.points if p.op == "gemm" and p.dtype == dtype]
        if not sweep:
            raise ValueError(f"no GEMM was measured in {dtype!r}; use fp32 or fp64")
        best = max(sweep, key=lambda p: p.rate)
        return self.quantity(best, f"{dtype} peak of this machine")

    def memory_bandwidth(self, op: str = "triad") -> Quantity:
        """Main memory: all cores, largest working set, ``op`` ``triad`` or ``read``."""
        return self.quantity(self.stream(op)[-1], f"memory {op} bandwidth")

    def overhead(self, op: str) -> Quantity:
        """Median time of an ``op`` (``gemv``, ``gemm``) with almost nothing to do.

        Raises
        ------
        ValueError
            For an operation whose overhead was not measured.
        """
        point = next((p for p in self.points if p.op == f"{op}_call"), None)
        if point is None:
            raise ValueError(f"no overhead was measured for {op!r}; use gemv or gemm")
        seconds = median(point.times_s), "s", f"{op} call overhead"
        return self._read(*seconds, point.id, "times_s/median")

    def quantity(self, point: Point, label: str) -> Quantity:
        """A point's rate as a measured ``Quantity``."""
        unit = WORK[point.op]
        work = self._read(point.work, unit, "work of a call", point.id, "work")
        least = min(point.times_s), "s", "time of the fastest sample"
        return (work / self._read(*least, point.id, "times_s/least")).named(label)

    def reported(self, field: str, value: float, unit: str, label: str) -> Quantity:
        """What the system said of the machine.

        Parameters
        ----------
        field : str
            The place under ``machine``.
        value : float
            What stands there.
        unit, label : str
            As ``Quantity`` takes them.
        """
        return self._read(value, unit, label, "machine", field)

    def _read(
        self, value: float, unit: str, label: str, row: str, field: str
    ) -> Quantity:
        title = f"measured on this machine ({self.device})"
        source = Source(title, row, self.date, "measured")
        key = f"{self.file}{MARK}{row}{MARK}{field}"
        return Quantity(
            value, unit, label=label, source=source, kind="measured", key=key
        )

    def text(self) -> str:
        """The roofs and slopes as a short table for people."""
        others = "unknown" if self.others is None else f"{self.others:.2g} cores"
        lines = [self.device, f"{self.driver}; streams: {self.kernel}"]
        lines.append(f"busy with other work meanwhile: {others}")
        for dtype in ("fp32", "fp64"):
            peak = self.peak(dtype)
            lines.append(f"  {dtype} peak         {peak.text():>12}")
        lines.append(f"  {'working set':16} {'triad':>12} {'read':>12}   all cores")
        for triad, read in zip(self.stream("triad"), self.stream("read"), strict=True):
            rates = (self.quantity(p, p.op).text() for p in (triad, read))
            lines.append(
                f"  {_bytes(triad.size):16} " + " ".join(f"{r:>12}" for r in rates)
            )
        return "\n".join(lines)

    def to_json(self) -> str:
        """JSON text, one point a line; ``from_json`` reads it back."""
        head = {"kind": KIND, **{name: getattr(self, name) for name in FIELDS}}
        head |= {"machine": self.machine, "prediction": None}
        head["why_no_prediction"] = "the ceilings that predictions start from"
        text = json.dumps(head, indent=1, default=dict)
        rows = [json.dumps({"id": p.id, **asdict(p)}) for p in self.points]
        return text[:-2] + ',\n "rows": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"

    @classmethod
    def from_json(cls, text: str, file: str = ROOFLINE) -> HostRoofline:
        """Read ``to_json`` text back, from a file of that name.

        Raises
        ------
        ValueError
            For text that is not such a record; the message names the fault.
        """
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"not JSON: {error}") from None
        if not isinstance(data, dict) or data.get("kind") != KIND:
            raise ValueError(f'not a host roofline: it lacks "kind": "{KIND}"')
        missing = [n for n in (*FIELDS, "machine", "rows") if n not in data]
        if missing:
            raise ValueError(f"host roofline lacks {', '.join(missing)}; measure again")
        head = {name: data[name] for name in (*FIELDS, "machine")}
        points = tuple(_point(row) for row in data["rows"])
        return cls(**head, points=points, file=file)

    @classmethod
    def load(cls, path: str | Path) -> HostRoofline:
        """Read a result file written by ``benchmarks/host.py roofline``."""
        path = Path(path)
        ours = path == held(BOOK_ROOFLINE) / BOOK_ROOFLINE
        text = path.read_text(encoding="utf-8")
        return cls.from_json(text, BOOK_ROOFLINE if ours else str(path))

    @classmethod
    def of_this_machine(cls) -> HostRoofline:
        """What was measured of the device ``this_machine``.

        Raises
        ------
        ValueError
            Where its row is that of an earlier measurement, which kept no more.
        """
        path = roofline_file()
        if not path.exists():
            raise ValueError(f"{path} is missing: run stacklib measure again")
        return cls.load(path)


def _point(row: Any) -> Point:
    try:
        fields = {k: v for k, v in row.items() if k != "id"}
        return Point(**{**fields, "times_s": tuple(fields["times_s"])})
    except (AttributeError, KeyError, TypeError):
        names = ", ".join(Point.__dataclass_fields__)
        raise ValueError(f"bad point {row!r}: needs {names}") from None


def _nearest_array(points: list[Point], working_set: Any) -> Any:
    import numpy

    if not (numpy.isfinite(working_set) & (numpy.asarray(working_set) > 0)).all():
        raise ValueError(f"working sets {working_set!r}: give bytes above zero")
    sizes = numpy.log([p.size for p in points])
    return numpy.abs(numpy.log(working_set)[..., None] - sizes).argmin(-1)


def _bytes(size: int) -> str:
    return Quantity(size, "B").text()
