"""The yield bit of 4.04: what it is worth that FFMA makes way for the tensor core.

In a promotion two warps of a scheduler take turns: one multiplies on the tensor core
while the other adds its sums with a run of FFMA. A greedy scheduler stays with the run
although the other warp's product is ready. The yield bit on an FFMA says: turn to
another warp (``Control.switch`` of ``gpu.code.sass``). Here the run is put on the
scheduler's replay (``gpu.issue``) with the bit and without.

DeepGEMM patched this bit, and the reuse bit beside it, into compiled code from February
to July 2025 ("10 %+ in some cases", its README). **Obsolete since NVCC 12.9**, which
interleaves FFMA by itself: README of deepseek-ai/DeepGEMM, news of 2025.07.20.
"""

from __future__ import annotations

from dataclasses import dataclass

from stacklib.gpu.code.compiled import compiled, kernels
from stacklib.gpu.code.sass import Sass
from stacklib.gpu.issue.machine import Machine, Way
from stacklib.gpu.issue.replay import replay
from stacklib.gpu.issue.streams import Recorder, Streams
from stacklib.quantity.bounds import whole

LATENCY = 4  # cycles of an FFMA
# Kinds of the replay's instructions; the second stands for an FFMA whose bit is set.
_PLAIN, _YIELDS = "fp32", "int"
BIT = 109  # of the instruction: the fifth of its control bits, 105 to 108 the stall


@dataclass(frozen=True, slots=True)
class Found:
    """Where a kernel's machine code asks the scheduler to switch."""

    kernel: str
    instructions: int
    switches: int
    fp32: int  # arithmetic in FP32
    fp32_switches: int


def found(kernel: str, target: str = "sm_90") -> Found:
    """Count the bit in a recorded kernel; `kernels` lists them."""
    code: Sass = compiled(kernel, target).sass
    useful = code.useful
    fp32 = [at for at in useful if at.group == "fp32"]
    return Found(
        kernel,
        len(useful),
        sum(at.control.switch for at in useful),
        len(fp32),
        sum(at.control.switch for at in fp32),
    )


def machine() -> Machine:
    """A scheduler with one FP32 port and a tensor core that a product holds."""
    fma = ("fma",)
    return Machine(
        "a sub-core with its tensor core",
        {
            _PLAIN: Way(fma, hold=1, latency=LATENCY),
            # After a switch the warp is not looked at in the next cycle.
            _YIELDS: Way(fma, hold=1, latency=LATENCY, after=2),
            "mma": Way(("tensor",), 0, LATENCY, "mma"),
        },
        sub_cores=1,
    )


def promotion(
    *, mma: int, steps: int, ffma: int, every: int = 0, warps: int = 2
) -> Streams:
    """Warps that multiply, then add their ``ffma`` sums, step after step.

    - ``every``: int; the yield bit is set on each ``every``-th FFMA; 0 for none.
    """
    whole(mma=mma, steps=steps, ffma=ffma, warps=warps)
    whole(0, every=every)
    tape = Recorder()
    busy = tape.ask(passes=mma)  # cycles for which the product holds the tensor core
    for _ in range(warps):
        tape.warp()
        last: tuple[int, ...] = ()
        sums: dict[int, int] = {}
        for _ in range(steps):
            product = tape.add("mma", last, request=busy)
            for number in range(ffma):
                kind = _YIELDS if every and number % every == every - 1 else _PLAIN
                needs = (product, *((sums[number],) if number in sums else ()))
                sums[number] = tape.add(kind, needs)
            last = (sums[ffma - 1],)
    return tape.streams()


@dataclass(frozen=True, slots=True)
class Gain:
    """Cycles without the bit, and with it."""

    without: int
    with_bit: int

    @property
    def times(self) -> float:
        """How much faster it is with the bit."""
        return self.without / self.with_bit


def cycles(streams: Streams) -> int:
    """Cycles until the last instruction has been issued, by a greedy scheduler."""
    done = replay(streams, machine(), resident=1, policy="greedy")
    return int(max(done.when)) + 1


def gain(
    *, mma: int, ffma: int, steps: int = 32, every: int = 4, warps: int = 2
) -> Gain:
    """What the bit is worth for a product of ``mma`` cycles and ``ffma`` sums.

    Set on every fourth FFMA it gains a fifth where the run is as long as the product,
    a tenth where it is twice as long, and nothing where the product is longer: then
    the other warp's product has been waiting in the tensor core all the time. Set on
    every FFMA it costs issue slots.
    """
    plain = promotion(mma=mma, steps=steps, ffma=ffma, warps=warps)
    bits = promotion(mma=mma, steps=steps, ffma=ffma, every=every, warps=warps)
    return Gain(cycles(plain), cycles(bits))


__all__ = [
    "Found",
    "Gain",
    "cycles",
    "found",
    "gain",
    "kernels",
    "machine",
    "promotion",
]
