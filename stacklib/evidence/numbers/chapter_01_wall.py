"""Numbers of chapter 1, the memory wall: growth of arithmetic and of bandwidth."""

from __future__ import annotations

from functools import cache

from stacklib import hardware, roofline
from stacklib.quantity import Quantity, Source, UnitError
from stacklib.roofline.bound import generations, trend

from .. import ledger as claims
from .registry import number

READ = "2026-11-21"
A100_40, A100_80, B200 = "a100-sxm-40gb", "a100-sxm-80gb", "b200-sxm"
# Early GPUs whose fp16 has no matrix units
WITHOUT_MATRIX_UNITS = ("p100_sxm2", "mi50_32gb", "mi60")


@cache
def wall() -> trend.MemoryWall:
    """The three trends over every data-centre GPU of the database."""
    return roofline.memory_wall()


_SIDES = {
    "compute": "dense fp16 peak",
    "bandwidth": "memory bandwidth",
    "ridge": "ridge point",
}
_ENDS = {
    "growth": ("", "Growth of the {} in two years"),
    "low": ("_low", "Low end of the 95 % interval of the growth of the {}"),
    "high": ("_high", "High end of the 95 % interval of the growth of the {}"),
}


def _register(side: str, end: str) -> None:
    suffix, words = _ENDS[end]
    what = words.format(_SIDES[side])

    def compute() -> Quantity:
        line: trend.Trend = getattr(wall(), side)
        return fitted(line, end, what)

    compute.__doc__ = f"{what}, over all data-centre GPUs of the database."
    number(f"wall.{side}{suffix}")(compute)


def fitted(line: trend.Trend, end: str, label: str) -> Quantity:
    """One end of a fitted growth; its source is the database it was fitted to.

    Parameters
    ----------
    line : Trend
        The fit.
    end : str
        ``growth``, ``low`` or ``high``.
    label : str
        What it is called.
    """
    where = f"least squares over {len(line.keys)} devices"
    source = Source("the spec database of this book", where, READ, "secondary")
    return Quantity(getattr(line, end), label=label, source=source, kind="computed")


for _side in _SIDES:
    for _end in _ENDS:
        _register(_side, _end)


@number("wall.devices", evidence="spec")
def wall_devices() -> Quantity:
    """Data-centre GPUs in the database with a bandwidth and a dense fp16 rate."""
    where = "data-centre GPUs with a bandwidth and a dense fp16 rate"
    source = Source("the spec database of this book", where, READ, "secondary")
    found = len(wall().compute.keys)
    return Quantity(found, label="devices", source=source, kind="spec")


@number("wall.spread", digits=2)
def wall_spread() -> Quantity:
    """Typical factor between the fp16 peak of a GPU and the trend's line."""
    return fitted(wall().compute, "spread", "spread about the line")


@number("wall.ridge_since_2020")
def ridge_since_2020() -> Quantity:
    """Growth of the ridge in two years over the GPUs of 2020 and later."""
    return fitted(_since_2020(), "growth", "growth of the ridge since 2020")


@number("wall.ridge_since_2020_low", digits=2)
def ridge_since_2020_low() -> Quantity:
    """Low end of the 95 % interval of that growth."""
    return fitted(_since_2020(), "low", "its low end")


@number("wall.ridge_since_2020_high", digits=3)
def ridge_since_2020_high() -> Quantity:
    """High end of the 95 % interval of that growth."""
    return fitted(_since_2020(), "high", "its high end")


@cache
def _since_2020() -> trend.Trend:
    return roofline.memory_wall(trend.family("hbm", 2020)).ridge


@cache
def _with_matrix_units() -> trend.Trend:
    found = [d for d in trend.family("hbm") if d.key not in WITHOUT_MATRIX_UNITS]
    return roofline.memory_wall(found).ridge


@number("wall.ridge_matrix")
def ridge_matrix() -> Quantity:
    """Growth of the ridge in two years over the GPUs that have matrix units."""
    return fitted(_with_matrix_units(), "growth", "growth of the ridge")


@number("wall.ridge_matrix_low")
def ridge_matrix_low() -> Quantity:
    """Low end of the 95 % interval of that growth."""
    return fitted(_with_matrix_units(), "low", "its low end")


@number("wall.ridge_matrix_high")
def ridge_matrix_high() -> Quantity:
    """High end of the 95 % interval of that growth."""
    return fitted(_with_matrix_units(), "high", "its high end")


def _claim(name: str, id: str) -> None:
    claim = claims.get(id)

    def compute() -> Quantity:
        return claims.get(id).quantity()

    compute.__doc__ = f"As document {claim.source} says it: {claim.text}."
    number(f"claim.{name}", evidence="claimed")(compute)


for _name, _id in {
    "wall_compute": "memwall-compute-growth",
    "wall_bandwidth": "memwall-bandwidth-growth",
    "wall_gap": "memwall-gap",
    "wall_doubles": "memwall-compute-doubles",
    "wall_bf16": "a100-b200-bf16",
    "wall_hbm": "a100-b200-hbm",
    "wall_nvlink": "a100-b200-nvlink",
    "wall_network": "a100-b200-network",
}.items():
    _claim(_name, _id)


@cache
def _grown(old: str, launch: bool = False) -> generations.Growth:
    return generations.growth(
        old, B200, bandwidth=launch_bandwidth() if launch else None
    )


@number("wall.launch_bandwidth", unit="TB/s", evidence="spec")
def launch_bandwidth() -> Quantity:
    """Memory bandwidth of B200 as it was announced at launch."""
    spec = hardware.get(B200).memory_bandwidth
    said = Source(
        "NVIDIA, at the launch of B200; noted with the device in our database",
        "memory bandwidth", READ, "announced",
    )  # fmt: skip
    announced = Quantity(8, "TB/s per_chip", label="B200 bandwidth at launch",
                         source=said, kind="spec")  # fmt: skip
    if announced.tags != spec.tags:
        raise UnitError(f"{announced!r} and {spec!r} are on different bases")
    return announced


@number("wall.a100_first", unit="GB", evidence="spec")
def a100_first() -> Quantity:
    """Memory of the first A100."""
    return hardware.get(A100_40).memory_capacity


@number("wall.b200_bandwidth", unit="TB/s", evidence="spec")
def b200_bandwidth() -> Quantity:
    """Memory bandwidth of B200 as its data sheet gives it now."""
    return hardware.get(B200).memory_bandwidth


@number("wall.bf16", evidence="spec")
def bf16() -> Quantity:
    """Growth of the dense bf16 peak from A100 to B200."""
    return _grown(A100_80).arithmetic


@number("wall.hbm_40", evidence="spec")
def hbm_40() -> Quantity:
    """Growth of memory bandwidth from the A100 of 40 GB to B200."""
    return _grown(A100_40).bandwidth


@number("wall.hbm_80", evidence="spec")
def hbm_80() -> Quantity:
    """Growth of memory bandwidth from the A100 of 80 GB to B200."""
    return _grown(A100_80).bandwidth


@number("wall.hbm_40_launch", digits=2, evidence="spec")
def hbm_40_launch() -> Quantity:
    """The same from the A100 of 40 GB, to the bandwidth announced at launch."""
    return _grown(A100_40, launch=True).bandwidth


@number("wall.hbm_80_launch", digits=2, evidence="spec")
def hbm_80_launch() -> Quantity:
    """The same from the A100 of 80 GB, to the bandwidth announced at launch."""
    return _grown(A100_80, launch=True).bandwidth


@number("wall.nvlink", evidence="spec")
def nvlink() -> Quantity:
    """Growth of the link to other chips from A100 to B200, one way."""
    return _grown(A100_80).link


@number("wall.network", evidence="spec")
def network() -> Quantity:
    """Growth of a network port from HDR InfiniBand, sold with A100, to NDR."""
    return hardware.link("ib_ndr").per_direction / hardware.link("ib_hdr").per_direction


@number("wall.ridge_a100", evidence="spec")
def ridge_a100() -> Quantity:
    """Bf16 ridge of the A100 of 80 GB."""
    return roofline.ridge(A100_80, "bf16")


@number("wall.ridge_b200", evidence="spec")
def ridge_b200() -> Quantity:
    """Bf16 ridge of B200."""
    return roofline.ridge(B200, "bf16")


@number("wall.ridge_b200_launch", evidence="spec")
def ridge_b200_launch() -> Quantity:
    """Bf16 ridge of B200 with the bandwidth announced at launch."""
    return roofline.ridge_point(hardware.get(B200).peak("bf16"), launch_bandwidth())
