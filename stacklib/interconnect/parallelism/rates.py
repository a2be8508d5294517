"""What a training step gets of a device: the rates of its parts, worn by software.

Rates of products, attention and memory are those that the families of single kernels
were fitted to. Links and ports give what NCCL's payload is of them. A caller may say
what share of them a software keeps whose kernels are not fused.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.hardware.factors import efficiency_kept
from stacklib.interconnect.selection import constants as c
from stacklib.interconnect.selection.machine import (
    BOX,
    NETWORK,
    PAYLOAD,
    board_rate,
    sold_with,
)
from stacklib.interconnect.selection.machine import (
    PORT as NCCL_PORT,
)
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    maximum,
    minimum,
    one_of,
    quoted,
    where,
)
from stacklib.quantity.bounds import above_zero
from stacklib.roofline.bound import gemm

US = 1e-6
TILE = (256, 128)  # the largest tile: products of training fill it
_LATER = ("hopper", "blackwell")
# Of attention at heads of 128: cycles of the softmax, and where warps multiply of their
# loads, over those of the products, by ``kernels.schedule.rules`` on A100 and on H100.
HEAD = 128
_SENDING = quoted("deepseek_ai.sms").si  # units that an exchange of experts takes
_BESIDE = {False: (0.53125, 0.625), True: (0.78125,)}
_NEAR, _FAR = (c.HOP[way]["ring"][2] * US for way in ("nvlink", "network"))


@dataclass(frozen=True, slots=True, eq=False)
class Device:
    """A device's sheet, as numbers in SI or as quantities; equal to itself alone."""

    name: str
    chip: gemm.Chip  # for the format of products
    plain: gemm.Chip  # for 16-bit attention and head
    memory: Any  # bytes
    link: Any  # payload a second out of a chip, one direction, within a domain
    port: Any  # and beyond it
    domain: int  # chips that links join
    later: bool
    width: float  # bytes an element of a product's operands
    operation: Any  # one operation, one byte: what counts are multiplied by
    byte: Any
    second: Any


def reached(device: Device, chips: Any) -> None:
    """Refuse several chips of a device between which no link is known."""
    alone = getattr(device.port, "si", device.port) == inf
    many = chips > 1
    if alone and (many.any() if hasattr(many, "any") else many):
        raise ValueError(
            f"{device.name} names neither a link to others of its kind nor PCI Express "
            "to a host: say what joins them (port, in bytes a second; --port in Gbit/s)"
        )


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates with the factors in force."""

    device: Device
    product: Any  # operations a second of one unit, and of all for 16 bits
    plain: Any
    units: float
    tail: Any
    fill: Any
    attention: Any  # operations a second
    attention_fill: Any  # keys
    moving: Any  # bytes a second of kernels that read and write
    launch: Any  # seconds
    tiled: bool
    beside: tuple[Any, ...] = ()  # as ``_BESIDE``
    sharp: Any = 1.0
    scattered: Any = 1.0  # of ``moving``, what kernels of experts reach
    host: Any = 0.0  # seconds that a host takes to start a kernel
    taken: float = 0.0  # share of the units that an exchange beside products takes
    fused: bool = False  # casts, biases and order of experts in other kernels

    def at_heads(self, size: float) -> Any:
        """``attention`` at heads of a size: a score's softmax takes what it takes."""
        if size == HEAD or not self.beside:
            return self.attention
        softmax, *others = self.beside
        wide = [softmax * (HEAD / size), *others]
        sums = [1 + sum(b**self.sharp for b in parts) for parts in (self.beside, wide)]
        return self.attention * (sums[0] / sums[1]) ** (1 / self.sharp)


@lru_cache(maxsize=256)
def _sheet(on: str, dtype: str, port: float | None, domain: int | None) -> Device:
    return _read(hardware.get(on), dtype, port, domain, False)


# Of a TPU, its share of its host's way out of the pod.
PORT = {**NCCL_PORT, "tpu": quoted("port.tpu").si}


def device_of(
    on: str | Accelerator,
    dtype: str = "bf16",
    port: float | None = None,
    domain: int | None = None,
    traced: bool = False,
) -> Device:
    """The sheet of a device; a port's rate and a domain's size may be other ones."""
    if isinstance(on, str) and not traced:
        return _sheet(on, dtype, port, domain)
    found = hardware.get(on) if isinstance(on, str) else on
    return _read(found, dtype, port, domain, traced)


def _read(
    device: Accelerator,
    dtype: str,
    port: float | None,
    domain: int | None,
    traced: bool,
) -> Device:
    formats = [f for f in ("bf16", "fp16", "fp32") if f in device.formats]
    if not formats:
        raise ValueError(f"{device.name} publishes no 16-bit rate to train with")
    plain = formats[0]
    lacks = dtype not in device.formats and dtype in ("bf16", "fp16")
    chip = gemm.chip_of(device, plain if lacks else dtype, traced)
    link, host = device.fields["link"], device.fields["host_link"]
    joined = device.fields["link_domain"]
    many = domain or (int(joined.si) if joined is not None else 1)
    if port is not None:
        above_zero(port=port)
    name = device.architecture if device.architecture in PORT else sold_with(device)
    inside: Any
    outside: Any = (PORT[name] if port is None else port) * NETWORK
    if traced:
        outside = _network(name, port)
    if link is not None:
        inside = (link if traced else link.si) * PAYLOAD
    elif host is not None:  # boards of one host, as ``selection`` has them
        share = board_rate(host.si, BOX) / host.si
        inside, many = (host if traced else host.si) * share, max(many, BOX)
    else:  # alone, or whatever its port is told to be
        inside, many = inf, 1
        outside = inf if port is None else outside
    memory = device.fields["memory_capacity"]
    if memory is None:
        raise ValueError(f"{device.name} says no memory_capacity to train in")
    return Device(
        device.short,
        chip,
        gemm.chip_of(device, plain, traced),
        memory if traced else memory.si,
        inside,
        outside,
        many,
        device.architecture in _LATER,
        float(bytes_per_element(dtype).si),
        one_of("FLOP per_chip", "operation") if traced else 1.0,
        one_of("B per_chip", "byte") if traced else 1.0,
        one_of("s", "second") if traced else 1.0,
    )


def rates_of(
    device: Device,
    traced: bool = False,
    share: Any = 1.0,
    tuned: bool = True,
    graph: bool = False,
) -> Rates:
    """The rates of a device with the factors in force.

    - ``share``: of the rates that the software keeps.
    - ``tuned``: whether attention uses asynchronous products where there are.
    - ``graph``: whether a step of experts is recorded once, so that no kernel waits for
      its host, and its kernels are fused.
    """
    if traced:
        return _rates(device, traced, share, tuned, graph)
    return _kept(device, traced, share, tuned, graph)


def _rates(device: Device, traced: bool, share: Any, tuned: bool, graph: bool) -> Rates:
    factor: Any = hardware.efficiency_quantity if traced else hardware.efficiency
    chip, plain = device.chip, device.plain
    issue = factor(chip.issue)
    kept = gemm.power_share(chip, issue, factor)
    sustained = chip.peak * issue * kept * share
    usual = plain.peak * factor(plain.issue) * share
    usual = usual * gemm.power_share(plain, factor(plain.issue), factor)
    later = tuned and (device.later or not plain.tiled)
    sharp = factor("attention_overlap")
    parts: Any = _BESIDE[later]
    if traced:
        parts = [chosen(part, label="cycles beside the products'") for part in parts]
    beside = sum(part**sharp for part in parts)
    pace = factor("attention_served") / (1 + beside) ** (1 / sharp)
    attention = plain.peak * pace * gemm.power_share(plain, pace, factor) * share
    return Rates(
        device,
        sustained,
        usual,
        chip.units,
        factor("wave_tail"),
        factor("tile_fill"),
        attention,
        factor("attention_fill"),
        chip.bandwidth * factor("dram_mixed") * share,
        factor("launch_kernel") * (1.0 if plain.tiled else 0.0),
        chip.tiled,
        tuple(parts),
        sharp,
        factor("expert_moving") if plain.tiled else 1.0,
        factor("expert_host") * (0.0 if graph or not plain.tiled else 1.0),
        _SENDING / float(getattr(chip.units, "si", chip.units)) if plain.tiled else 0.0,
        graph,
    )


_kept = efficiency_kept(_rates)


def _network(name: str, port: float | None) -> Quantity:
    """What leaves a chip's node, of the port that it is sold with or of another."""
    sold = quoted(f"port.{name}")
    if port is not None:
        sold = chosen(port, "B/s per_chip per_direction", "network port of a chip")
    return (sold * quoted("port.payload")).named("network port")


def within(device: Device, inner: Any, size: Any) -> Any:
    """Chips of a group that lie in one domain; groups of ``inner`` lie closer."""
    return minimum(size, maximum(device.domain / inner, 1.0))


def hop(device: Device, outside: Any) -> Any:
    """Seconds of one step of a ring, NCCL's for its simple protocol."""
    return where(outside, _FAR, _NEAR) * device.second
