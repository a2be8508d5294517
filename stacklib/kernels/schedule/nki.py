"""The eleven versions of AWS's attention kernel as schedules of Trainium's engines.

Versions and what each changes are those of the NKI tutorial *attention forward
performance* (aws-neuron/nki-samples at 6905a68, ``src/nki_samples/tutorials/
attention_fwd_performance/attention_kernels.py``, v1 to v11; an eighth-and-a-half, 8a,
only moves code). One tile is 128 queries against all keys, 2,048 here: TensorE
multiplies and transposes, VectorE reduces, ScalarE makes exponentials and copies out of
PSUM, DMA moves. Every engine takes one column of 128 elements a cycle of its clock;
TensorE takes four cycles for FP32 operands.

Clocks: TensorE's follows from the printed BF16 peak; VectorE 0.96 GHz and ScalarE 1.4
GHz from AWS's *Trainium2 Architecture Guide for NKI* (recalled). What is ours: the
schedule of each version, read from its loops, with engines that work in program order
until v10 and v11 interleave two tiles. Left out: fixed costs of an instruction, which
rule v1 and v2 in fact, and semaphores between engines. The tutorial says that v8 is
slower than v7 and prepares what follows; here its early copy costs and gains nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from stacklib import hardware
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole

from .pipeline import Stage, Timeline, pipeline

PARTITIONS = 128  # rows that an engine works on at once; also the head size
VECTOR_CLOCK, SCALAR_CLOCK = 0.96e9, 1.4e9
FP32_PASSES = 4  # of TensorE for FP32 operands
QUERY_TILES = 16


@dataclass(frozen=True, slots=True)
class Engines:
    """Clocks of one NeuronCore's engines, and its share of the memory."""

    tensor: float
    vector: float
    scalar: float
    dma: float  # bytes a second


def engines(on: str = "trainium2") -> Engines:
    """The engines of one NeuronCore of a device."""
    device = hardware.get(on)
    cores = device.compute_units.si
    # Two operations for each of 128 x 128 multipliers.
    clock = device.peak("bf16").si / cores / (2 * PARTITIONS**2)
    memory = device.memory_bandwidth.si / cores
    return Engines(clock, VECTOR_CLOCK, SCALAR_CLOCK, memory)


@dataclass(frozen=True, slots=True)
class Version:
    """What one version of the kernel does with a tile of queries."""

    name: str
    change: str
    keys: int = 2048
    spilled: int = 0  # passes of the scores through memory
    fused: bool = True  # one loop does everything for a tile before the next
    divide_late: bool = False  # by the sum, after the values
    combined: bool = False  # subtraction, exponential and sum in one ScalarE pass
    narrow: bool = False  # scores in BF16 before their transpose
    slots: int = 1  # tiles of scores in PSUM or SBUF
    interleaved: bool = False  # software pipelining over tiles


def _ladder() -> tuple[Version, ...]:
    first = Version("v1", "toy example, 128 keys, nki.lang", keys=PARTITIONS)
    v3 = Version(
        "v3",
        "tiles of a long sequence, step by step through memory",
        spilled=9,
        fused=False,
    )
    v4 = replace(v3, name="v4", change="one loop for all steps", spilled=0, fused=True)
    v5 = replace(v4, name="v5", change="division after the values", divide_late=True)
    v6 = replace(v5, name="v6", change="sub, exp and sum in one pass", combined=True)
    v7 = replace(v6, name="v7", change="BF16 scores before the transpose", narrow=True)
    v8 = replace(v7, name="v8", change="maximum and copy out of PSUM")
    v9 = replace(v8, name="v9", change="buffers allocated by hand", slots=2)
    v10 = replace(
        v9, name="v10", change="allocation and software pipelining", interleaved=True
    )
    v11 = replace(
        v7, name="v11", change="software pipelining alone", slots=2, interleaved=True
    )
    second = replace(first, name="v2", change="nki.isa instructions")
    return (first, second, v3, v4, v5, v6, v7, v8, v9, v10, v11)


VERSIONS = {version.name: version for version in _ladder()}


def stages_of(version: Version, made: Engines) -> tuple[Stage, ...]:
    """A tile of 128 queries as stages on engines; times in seconds."""
    keys, wide = version.keys, PARTITIONS
    passes = 1 if version.narrow else FP32_PASSES
    tensor = keys / made.tensor
    vector, scalar = keys / made.vector, keys / made.scalar
    stages = [Stage("QK", FP32_PASSES * tensor, "TensorE", ())]
    stages.append(Stage("max", vector, "VectorE", ("QK",)))
    if version.combined:
        stages.append(Stage("exp", scalar, "ScalarE", ("max",)))
        last = "exp"
    else:
        stages += [
            Stage("sub", vector, "VectorE", ("max",)),
            Stage("exp", scalar, "ScalarE", ("sub",)),
            Stage("sum", vector, "VectorE", ("exp",)),
        ]
        last = "sum"
    if not version.divide_late:
        stages.append(Stage("divide", vector, "VectorE", (last,)))
        last = "divide"
    # The copy out of PSUM follows each transposed block, a quarter of the keys apart.
    stages += [
        Stage("transpose", passes * tensor, "TensorE", (last,)),
        Stage("copy", scalar, "ScalarE", ("transpose",)),
        Stage("PV", passes * tensor, "TensorE", ("copy",)),
    ]
    last = "PV"
    if version.divide_late:
        stages.append(Stage("divide", wide / made.vector, "VectorE", ("PV",)))
        last = "divide"
    moved = 4 * PARTITIONS * wide  # the tile's results
    moved += version.spilled * 4 * PARTITIONS * keys
    stages.append(Stage("store", moved / made.dma, "DMA", (last,)))
    return _ordered(version, stages)


def _ordered(version: Version, stages: list[Stage]) -> tuple[Stage, ...]:
    """Add what program order and PSUM demand between tiles."""
    if version.interleaved:
        # Tiles in flight are bounded by the slots of scores.
        back = ("PV", version.slots)
    elif version.slots > 1:
        # With room of its own the next tile begins behind this one's transposes.
        back = ("transpose", 1)
    else:
        back = ("PV", 1)
    first = stages[0]
    return (Stage(first.name, first.time, first.unit, (back,)), *stages[1:])


@dataclass(frozen=True, slots=True)
class Schedule:
    """A version on a NeuronCore."""

    version: Version
    time: float  # seconds for all tiles of queries
    timeline: Timeline | None  # None where every step waits for the one before
    busiest: str

    @property
    def rate(self) -> float:
        """FLOP/s of its two products."""
        products = 4.0 * PARTITIONS * self.version.keys * PARTITIONS
        return products * QUERY_TILES / self.time


def schedule(name: str, on: str = "trainium2", tiles: int = QUERY_TILES) -> Schedule:
    """Run a version: ``v1`` to ``v11``.

    - raises ``UnknownName`` for another version or device.
    """
    version = VERSIONS[resolve(name, VERSIONS, "version of the kernel")]
    whole(tiles=tiles)
    stages = stages_of(version, engines(on))
    work: dict[str, float] = {}
    for stage in stages:
        work[stage.unit] = work.get(stage.unit, 0.0) + stage.time
    busiest = max(work, key=lambda unit: work[unit])
    if not version.fused:  # a loop over all tiles for each step
        return Schedule(version, tiles * sum(s.time for s in stages), None, busiest)
    timeline = pipeline(stages, tiles)
    return Schedule(version, timeline.time, timeline, busiest)
