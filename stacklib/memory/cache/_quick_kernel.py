"""Caches whose lines leave in an order, LRU or FIFO, eight ways looked at in one step.

The ways of a set stand in two words, nearest to be kept first: eight bits of a hash of
each line's number, and the ways those lines lie in. One subtraction finds the bytes of
the first word that equal a hash (Lamport, CACM 18(8), 1975), so that the tag of the
one candidate is compared, seldom two. A line goes to the front by shifting the bytes
before it. More than eight ways take several words.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_WAYS = 256  # a way is a byte
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio
_ONE, _SEVEN, _EIGHT, _TOP = (np.uint64(n) for n in (1, 7, 8, 56))
_BYTE, _NONE = np.uint64(255), np.uint64(0)


def quickly(shape: Any, finer: bool) -> tuple[Any, ...]:
    """What `quick` keeps: hashes and ways of every set in order, words, sectors held.

    ``finer``: whether a place may hold a part of its line.
    """
    words = -(-shape.ways // 8)
    order = np.zeros((shape.sets, 8 * words), np.uint8)
    order[:, : shape.ways] = np.arange(shape.ways)
    little: Any = order.view("<u8").ravel().astype(np.uint64)
    held = np.zeros(shape.sets * shape.ways, np.int64) if finer else None
    return np.zeros_like(little), little, words if words > 1 else None, held


def quick(
    addresses: Any,
    stores: Any,
    parts: Any,
    shape: Any,
    hashes: Any,
    order: Any,
    words: Any,
    held: Any,
    hit: Any,
    backs: Any,
    counts: Any,
) -> None:
    """As ``_cache_kernel.loop`` for LRU and FIFO that are written back.

    What is None is compiled away: ``stores``, the number of ``words`` of a set where
    that is one, and ``held``, the sectors that each place holds, where a place holds
    the whole line or nothing.
    """
    sets, ways = shape.sets, shape.ways
    tags: Any = np.full(sets * ways, -1, np.int64)
    dirty: Any = np.zeros(sets * ways, np.int64)
    # Dividing by a power of two is a shift, several times as fast.
    shift = 0
    while 1 << shift < shape.line:
        shift += 1
    if 1 << shift != shape.line:
        shift = -1
    mask = sets - 1 if sets & (sets - 1) == 0 else -1
    last = np.uint64(8 * ((ways - 1) % 8))  # bits before the one who leaves
    fifo = shape.policy == 1
    known = np.int64(-1)  # a line that is where it would go,
    at, have, soil = _NONE, 0, 0  # the place of the last, its sectors, the dirty
    driven_out = dirtied = 0
    written = _NONE
    for i in range(len(addresses)):
        address = addresses[i]
        line = address >> shift if shift >= 0 else address // shape.line
        bit = 1
        if held is not None:
            bit = 1 << ((address - line * shape.line) // shape.sector)
        store = False
        if stores is not None:
            store = stores[i]
        found = line == known
        if not found:
            if held is not None:
                held[at] = have
            if stores is not None:
                dirty[at] = soil
            index = line
            if shape.fold > 0:
                rest = line >> shape.fold
                while rest > 0:
                    index ^= rest
                    rest >>= shape.fold
            # Unsigned, so that compiled code need not ask whether an index counts from
            # the end.
            head = np.uint64(index & mask if mask >= 0 else index % sets)
            first = np.uint64(ways) * head
            if words is not None:
                head *= np.uint64(words)
            short = (np.uint64(line) * _SPREAD) >> _TOP
            same = short * _ONES
            low = way = _NONE
            word = head
            while True:
                seen = hashes[word] ^ same
                equal = (seen - _ONES) & ~seen & _HIGHS  # the lowest bit set is right
                while equal != _NONE:
                    low = equal & (~equal + _ONE)
                    before = ((((low - _ONE) & _ONES) * _ONES) >> _TOP) - _ONE
                    way = (order[word] >> (before * _EIGHT)) & _BYTE
                    at = first + way
                    if tags[at] == line:
                        found = True
                        break
                    equal &= equal - _ONE
                if words is None or found or word == head + np.uint64(words) - _ONE:
                    break
                word += _ONE
            renews = not fifo and (shape.stores_renew or not store)
            known = line if fifo or renews or not found else np.int64(-1)
            if not found:
                low = _ONE << (last + _SEVEN)
                way = (order[word] >> last) & _BYTE
                at = first + way
                driven_out += tags[at] >= 0
                if stores is not None:
                    soil = dirty[at]
                    backs[written, 0] = i
                    backs[written, 1] = tags[at]
                    backs[written, 2] = soil
                    written += np.uint64(soil != 0)
                tags[at] = line
                have = soil = 0
            else:
                if held is not None:
                    have = held[at]
                if stores is not None:
                    soil = dirty[at]
            if renews or not found:
                if words is not None:
                    for step in range(head, word):
                        moved, went = hashes[step], order[step]
                        hashes[step] = (moved << _EIGHT) | short
                        order[step] = (went << _EIGHT) | way
                        short, way = moved >> _TOP, went >> _TOP
                ahead = (low >> _SEVEN) - _ONE  # those the line passes
                stay = ~((ahead << _EIGHT) | _BYTE)
                moved, went = hashes[word], order[word]
                hashes[word] = (moved & stay) | ((moved & ahead) << _EIGHT) | short
                order[word] = (went & stay) | ((went & ahead) << _EIGHT) | way
        if held is not None:
            there = have | soil if shape.validate and store else have
            found = (there & bit) != 0
            if not (shape.validate and store and len(parts) > 0 and parts[i]):
                have |= bit
        hit[i] = found
        if stores is not None:
            new = bit & ~soil if store else 0
            dirtied += new != 0
            soil |= new
    counts[0] = written
    counts[1] = driven_out
    counts[2] = dirtied
