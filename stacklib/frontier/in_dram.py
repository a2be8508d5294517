"""A product inside the memory, against reading the matrix out once.

Outside, the matrix is read once for a whole batch. Inside, units beside the banks read
many banks at once, but each vector of the batch reads the matrix again, and while rows
are closed and opened no bank of a channel does anything else. So memory that multiplies
wins for one vector and loses from a batch on that is its effective gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from stacklib import hardware
from stacklib.hardware import Accelerator
from stacklib.memory.ladder.energy import circuit_path
from stacklib.memory.tiers.parts import constant
from stacklib.quantity import Quantity, maximum, one_of, quoted
from stacklib.quantity.bounds import whole
from stacklib.quantity.stored import bytes_per_element
from stacklib.roofline.work.fit import Infeasible


@dataclass(frozen=True)
class InMemory:
    """One product of a matrix with a batch, outside and inside the memory.

    - ``outside``, ``inside``: seconds
    - ``outside_energy``, ``inside_energy``: joules of what is read
    - ``gain``: bandwidth of the banks over that of the pins, rows opened included
    """

    batch: int
    outside: Quantity
    inside: Quantity
    outside_energy: Quantity
    inside_energy: Quantity
    gain: Quantity

    @property
    def times(self) -> Quantity:
        """How many times as fast it is inside; below one it loses."""
        return self.outside / self.inside


def banks_gain() -> Quantity:
    """Banks that work at once, at the slower pace inside: what is claimed."""
    gain = quoted("hbm_pim.banks") / quoted("hbm_pim.pace")
    return gain.named("banks over pins, without rows")


def gain() -> Quantity:
    """The same with the rows: a channel's banks wait while one follows another."""
    columns = quoted("hbm_pim.page") / quoted("hbm_pim.column")
    reading = columns * quoted("hbm_pim.column_time") * quoted("hbm_pim.pace")
    busy = reading / (reading + quoted("hbm_pim.row"))
    return (banks_gain() * busy).named("banks over pins")


def in_memory(
    rows: int,
    cols: int,
    batch: int = 1,
    *,
    dtype: str = "bf16",
    on: str | Accelerator = "h100-sxm",
) -> InMemory:
    """A (rows, cols) matrix times ``batch`` vectors, in both places.

    Parameters
    ----------
    rows, cols : int
        Of the matrix.
    batch : int, optional
        Vectors.
    dtype : str, optional
        Format of the weights.
    on : str or Accelerator, optional
        The chip whose memory it is; as many units in its banks as in HBM-PIM.

    Returns
    -------
    InMemory
        Seconds and joules of both, and the gain.

    Raises
    ------
    ValueError
        For sizes below one.
    UnknownName
        For a device or format that is not known.
    Infeasible
        When matrix and vectors are more than the memory holds.

    Examples
    --------
    >>> [in_memory(8192, 8192, batch).times.text(digits=2) for batch in (1, 16)]
    ['3.2', '0.2']
    """
    whole(rows=rows, cols=cols, batch=batch)
    device = hardware.get(on) if isinstance(on, str) else on
    rows, cols, batch = int(rows), int(cols), int(batch)
    size = bytes_per_element(dtype) * (rows * cols)
    moved = bytes_per_element("bf16") * ((rows + cols) * batch)
    if size + moved > device.memory_capacity:
        raise Infeasible(
            f"{size.text()} of weights and {moved.text()} of vectors; "
            f"{device.name} holds {device.memory_capacity.text()}"
        )
    flop = one_of("FLOP") * (2 * rows * cols * batch)
    bandwidth = device.memory_bandwidth
    read = size / bandwidth
    vectors = moved / bandwidth
    outside = maximum(read, flop / device.peak("bf16")) + vectors
    inside = read * batch / gain() + vectors
    first, *path = (stage.per_bit for stage in circuit_path(device))
    bits = size.to("bit")
    return InMemory(
        batch,
        outside.named("time outside"),
        inside.named("time inside"),
        (bits * sum(path, first)).named("energy of reading it out"),
        (bits * constant("hbm_activation") * batch).named("energy of reading inside"),
        gain(),
    )


def counted_gain(size: int, channels: int = 32) -> float:
    """The gain by walking a matrix of so many bytes through rows and columns.

    Pages go to banks in turn; the pins stream without a pause, for other banks open
    their rows meanwhile. Inside, banks that compute at once open theirs together.
    """
    whole(size=size, channels=channels)
    page, column = (int(quoted(f"hbm_pim.{k}").si) for k in ("page", "column"))
    access, row = (quoted(f"hbm_pim.{k}").si for k in ("column_time", "row"))
    banks, pace = (int(quoted(f"hbm_pim.{k}").si) for k in ("banks", "pace"))
    pins = inside = 0.0
    left = -(-size // channels)
    while left > 0:
        together = min(left, page * banks)
        columns = -(-together // column)
        pins += columns * access
        deepest = -(-min(left, page) // column)
        inside += row + deepest * access * pace
        left -= together
    return pins / inside


def loses_from(
    rows: int, cols: int, *, dtype: str = "bf16", on: str = "h100-sxm", most: int = 4096
) -> int:
    """The smallest batch at which the memory is no faster than the chip."""
    whole(most=most)
    for batch in range(1, most + 1):
        if in_memory(rows, cols, batch, dtype=dtype, on=on).times.si <= 1:
            return batch
    raise ValueError(f"inside wins up to a batch of {most}")


def napkin() -> int:
    """The same by the claimed gain alone: a batch of as many reads it as often."""
    return math.ceil(banks_gain().si)
