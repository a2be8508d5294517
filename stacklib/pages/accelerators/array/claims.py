"""Claims on arrays: how large they are, what a doubling saves, what stands still."""

from __future__ import annotations

from stacklib.evidence import Finding, claim
from stacklib.quantity import Quantity, counted, quoted

from . import issued


def side_of(multipliers: Quantity) -> Quantity:
    """The side of a square array."""
    return counted(pow, multipliers, 0.5, label="side of the array")


@claim("tpu-systolic-size")
def size() -> Finding:
    """The first TPU's multipliers, and what came between."""
    return Finding(
        side_of(quoted("tpu1.macs")),
        why="True of TPU v1, and again from v6e on "
        f"({quoted('tpu6.mxu').si:.0f}); in between an array had "
        f"{quoted('tpu_arch.mxu').si:.0f} by as many, and a chip two to eight of them.",
    )


@claim("ironwood-mxu-256")
def ironwood() -> Finding:
    """What JAX is built for."""
    return Finding(
        quoted("jax.tpu7_mxu"),
        why="One of several: JAX is built for "
        f"{quoted('jax.tpu7_mxus').si:.0f} in each TensorCore. Google's own page of "
        "the chip does not print the size.",
    )


@claim("systolic-scalar-overhead-per-doubling")
def doubling() -> Quantity:
    """Multiply-adds that one issued vector stands for, of twice the side over once."""
    return (issued(16) / issued(8)).named("multiply-adds, twice the side over once")


@claim("systolic-128-vs-4-doublings")
def five_doublings() -> Quantity:
    """From 4 to 128."""
    return (issued(128) / issued(4)).named("multiply-adds, side 128 over side 4")


@claim("volta-4x4-as-systolic")
def volta() -> Finding:
    """By sides alone; a Volta tensor core is no flat array."""
    core = quoted("volta.core_macs")
    return Finding(
        (issued(128) / issued(4)).named("multiply-adds, side 128 over side 4"),
        why="If only the sides are compared. A Volta tensor core multiplies 4 x 4 by "
        f"4 x 4 in a cycle, {core.si:.0f} multiply-adds, so the gap of the units is "
        f"{issued(128) / core:.0f} times.",
    )


@claim("systolic-throughput-per-doubling")
def throughput() -> Finding:
    """Multiply-adds in a cycle."""
    return Finding(
        (issued(16) / issued(8)).named("multiply-adds per cycle, twice the side"),
        why="The numbers that enter in a cycle only double, so each has to be used "
        "twice as often: twice as many rows of activations keep it busy.",
    )


@claim("systolic-figure-accumulators")
def figure() -> Finding:
    """What moves in a TPU's array."""
    return Finding.false(
        "Source: Jouppi et al., ISCA 2017, section 2: weights are preloaded and take "
        "effect with the advancing wave, data flow in from the left, sums are "
        "collected below. The guide's figure is an array whose sums stand; both are "
        "stepped in the section, and both give the product."
    )
