"""A global memory that moves whole sectors, and counts them.

``coalesce`` reasons about addresses; ``SectoredMemory`` holds bytes, fetches each
sector once a request and cuts from it what the lanes asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

from .coalescing import SECTOR
from .lanes import lane_addresses

__all__ = ["SectoredMemory"]


class SectoredMemory:
    """Bytes that come and go in sectors.

    Parameters
    ----------
    data : bytes
        What it holds at first; a whole number of sectors.

    Attributes
    ----------
    read, written : int
        Sectors moved so far.

    Raises
    ------
    ValueError
        For data that are no whole number of sectors.

    Examples
    --------
    >>> memory = SectoredMemory(bytes(4096))
    >>> _ = memory.load(range(0, 4096, 128))
    >>> memory.read
    32
    """

    def __init__(self, data: bytes) -> None:
        if not data or len(data) % SECTOR:
            raise ValueError(f"{len(data)} bytes: not a whole number of {SECTOR}")
        self._sectors = [
            bytearray(data[i : i + SECTOR]) for i in range(0, len(data), SECTOR)
        ]
        self.read = self.written = 0

    @property
    def data(self) -> bytes:
        """All it holds."""
        return b"".join(self._sectors)

    def load(
        self, addresses: Iterable[int | None], width: int = 4
    ) -> tuple[bytes | None, ...]:
        """Read one value a lane.

        Parameters
        ----------
        addresses : iterable of int or None
            Byte address of each lane; None for one masked off.
        width : int
            Bytes each lane reads.

        Raises
        ------
        IndexError
            For a lane that reads past the end.
        ValueError
            See `lanes.lane_addresses`.
        """
        lanes = self._inside(addresses, width)
        fetched = {
            a // SECTOR: bytes(self._sectors[a // SECTOR])
            for a in lanes
            if a is not None
        }
        self.read += len(fetched)
        return tuple(
            None if a is None else fetched[a // SECTOR][a % SECTOR :][:width]
            for a in lanes
        )

    def store(
        self,
        addresses: Iterable[int | None],
        values: Iterable[bytes | None],
        width: int = 4,
    ) -> None:
        """Write one value a lane; where lanes meet, the highest one stays.

        Parameters
        ----------
        addresses : iterable of int or None
            Byte address of each lane; None for one masked off.
        values : iterable of bytes or None
            ``width`` bytes a lane.
        width : int
            Bytes each lane writes.

        Raises
        ------
        IndexError
            For a lane that writes past the end.
        ValueError
            For a value of another length, or see `lanes.lane_addresses`.
        """
        lanes = self._inside(addresses, width)
        touched = set()
        for lane, (address, value) in enumerate(zip(lanes, values, strict=True)):
            if address is None:
                continue
            if value is None or len(value) != width:
                raise ValueError(f"lane {lane}: {value!r} is not {width} bytes")
            number, start = divmod(address, SECTOR)
            self._sectors[number][start : start + width] = value
            touched.add(number)
        self.written += len(touched)

    def _inside(self, addresses: Iterable[int | None], width: int) -> list[int | None]:
        """Checked addresses, all of them within the memory."""
        lanes = lane_addresses(addresses, width)
        size = len(self._sectors) * SECTOR
        for lane, address in enumerate(lanes):
            if address is not None and address + width > size:
                raise IndexError(f"lane {lane}: byte {address} is past the {size} held")
        return lanes
