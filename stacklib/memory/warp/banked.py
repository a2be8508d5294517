"""A shared memory that serves requests: one word a bank and pass, and no more.

The third way to a bank conflict. ``bank_access`` reasons about addresses;
``BankedMemory`` holds bytes in thirty-two banks, serves lanes until all are served,
and says how many passes that took. It returns what was read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stacklib.quantity.bounds import whole

from .banks import BANKS, WORD, phases, words_of
from .lanes import lane_addresses


@dataclass(frozen=True, slots=True)
class Served:
    """What a request got."""

    values: tuple[bytes | None, ...]
    passes: int  # passes over the banks, all phases together


class BankedMemory:
    """Bytes in thirty-two banks, word after word."""

    def __init__(self, size: int) -> None:
        whole(size=size)
        if size % WORD:
            raise ValueError(f"size = {size}: not a whole number of {WORD}-byte words")
        self.size = size
        rows = -(-size // (BANKS * WORD))
        self._banks = [[bytearray(WORD) for _ in range(rows)] for _ in range(BANKS)]
        self.passes = 0

    def load(self, addresses: Iterable[int | None], width: int = 4) -> Served:
        """Read one value a lane. ``width``: bytes each lane reads."""
        lanes = self._inside(addresses, width)
        values: list[bytes | None] = []
        passes = 0
        for phase in phases(lanes, width):
            wanted = [_words(address, width) for address in phase]
            got: list[dict[int, bytes]] = [{} for _ in phase]
            while any(wanted):
                passes += 1
                for word, row in self._one_pass(wanted):
                    for words, held in zip(wanted, got, strict=True):
                        if word in words:
                            held[word] = bytes(row)
                            words.remove(word)
            values += [_cut(a, h, width) for a, h in zip(phase, got, strict=True)]
        self.passes += passes
        return Served(tuple(values), passes)

    def store(
        self,
        addresses: Iterable[int | None],  # byte address of each lane
        values: Iterable[bytes | None],  # ``width`` bytes a lane
        width: int = 4,  # bytes each lane writes
    ) -> int:
        """Write one value a lane; where lanes meet, the highest one stays."""
        lanes = self._inside(addresses, width)
        given = list(values)
        if len(given) != len(lanes):
            raise ValueError(f"{len(given)} values for {len(lanes)} lanes")
        for lane, (address, value) in enumerate(zip(lanes, given, strict=True)):
            if address is not None and (value is None or len(value) != width):
                raise ValueError(f"lane {lane}: {value!r} is not {width} bytes")
        passes = 0
        taken = 0
        for phase in phases(lanes, width):
            mine = given[taken : taken + len(phase)]
            taken += len(phase)
            wanted = [_words(address, width) for address in phase]
            while any(wanted):
                passes += 1
                for word, row in self._one_pass(wanted):
                    for address, value, words in zip(phase, mine, wanted, strict=True):
                        if word in words and address is not None and value is not None:
                            _paste(row, word, address, value)
                            words.remove(word)
        self.passes += passes
        return passes

    def _one_pass(self, wanted: list[list[int]]) -> list[tuple[int, bytearray]]:
        """The word that each bank gives now: the first that some lane still wants."""
        now: dict[int, int] = {}
        for words in wanted:
            for word in words:
                now.setdefault(word % BANKS, word)
        return [(w, self._banks[bank][w // BANKS]) for bank, w in now.items()]

    def _inside(self, addresses: Iterable[int | None], width: int) -> list[int | None]:
        """Checked addresses, all of them within the memory."""
        lanes = lane_addresses(addresses, width)
        for lane, address in enumerate(lanes):
            if address is not None and address + width > self.size:
                raise IndexError(
                    f"lane {lane}: {width} bytes at {address} end past the "
                    f"{self.size} bytes of this memory"
                )
        return lanes


def _words(address: int | None, width: int) -> list[int]:
    return [] if address is None else list(words_of(address, width))


def _cut(address: int | None, held: dict[int, bytes], width: int) -> bytes | None:
    """The bytes a lane asked for, out of the words it got."""
    if address is None:
        return None
    joined = b"".join(held[word] for word in sorted(held))
    return joined[address % WORD : address % WORD + width]


def _paste(row: bytearray, word: int, address: int, value: bytes) -> None:
    """The part of a lane's value that belongs into one word."""
    start = max(0, address - word * WORD)
    part = value[max(0, word * WORD - address) :][: WORD - start]
    row[start : start + len(part)] = part
