"""A global memory that moves whole sectors, and counts them.

``coalesce`` reasons about addresses; ``SectoredMemory`` holds bytes, fetches each
sector once a request and cuts from it what the lanes asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

from .coalescing import SECTOR
from .lanes import lane_addresses


class SectoredMemory:
    """Bytes that come and go in sectors."""

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
        """Read one value a lane. ``width``: bytes each lane reads."""
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
        addresses: Iterable[int | None],  # byte address of each lane
        values: Iterable[bytes | None],  # ``width`` bytes a lane
        width: int = 4,  # bytes each lane writes
    ) -> None:
        """Write one value a lane; where lanes meet, the highest one stays."""
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
