"""Races: the compact record against every pair of accesses, one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu.simt.hazards import Hazards

THREADS, BLOCKS = 64, 2  # two warps a block


def ordered(one, other):
    """Whether a barrier lies between two accesses (thread, tick)."""
    (a, s), (b, t) = one, other
    same_block = a // THREADS == b // THREADS
    same_warp = a // 32 == b // 32
    return a == b or (same_block and s >> 32 != t >> 32) or (same_warp and s != t)


events = st.one_of(
    st.tuples(st.just("sync"), st.integers(0, BLOCKS - 1)),
    st.tuples(st.just("syncwarp"), st.integers(0, 2 * BLOCKS - 1)),
    st.tuples(
        st.sampled_from(["read", "write", "atomic"]),
        st.lists(
            st.tuples(
                st.sampled_from([0, 1, 31, 32, 33, 64, 65, 96]), st.integers(0, 1)
            ),
            min_size=1,
            max_size=4,
            unique_by=lambda pair: pair[0],
        ),
    ),
)


@settings(max_examples=1000, deadline=None)
@given(st.lists(events, max_size=14), st.sampled_from([0, 3, 100]))
def test_every_race_and_no_other(script, most):
    hazards = Hazards(2, True, THREADS)
    hazards.most = most  # of reads that are only listed
    tick = np.zeros(2 * BLOCKS, np.int64)
    reads = {0: [], 1: []}
    writes = {0: None, 1: None}
    atomics = {0: [], 1: []}
    for what, detail in script:
        if what == "sync":
            tick[2 * detail : 2 * detail + 2] += (1 << 32) + 1
        elif what == "syncwarp":
            tick[detail] += 1
        else:
            threads = np.array([thread for thread, _ in detail])
            at = np.array([element for _, element in detail])
            now = tick[threads // 32]
            found = getattr(hazards, what)(at, threads, now)
            expected = False
            mine = list(zip(threads.tolist(), now.tolist(), at.tolist(), strict=True))
            for thread, t, element in mine:
                last = writes[element]
                expected |= last is not None and not ordered(last, (thread, t))
                if what != "read":
                    expected |= any(not ordered(r, (thread, t)) for r in reads[element])
                if what != "atomic":
                    expected |= any(
                        not ordered(a, (thread, t)) for a in atomics[element]
                    )
                if what == "write":
                    expected |= sum(e == element for _, _, e in mine) > 1
            assert found.any() == expected
            if expected:
                return  # a launch ends at its first race
            for thread, t, element in mine:
                if what == "write":
                    writes[element], reads[element] = (thread, t), []
                    atomics[element] = []
                elif what == "atomic":
                    atomics[element].append((thread, t))
                else:
                    reads[element].append((thread, t))
