"""Races: the compact record against every pair of accesses, one by one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.gpu.vm import state as at
from stacklib.gpu.vm.barriers import met
from stacklib.gpu.vm.memory_lanes import adds, reads, writes

THREADS, BLOCKS = 64, 2  # two warps a block


def ordered(one, other):
    """Whether a barrier lies between two accesses (thread, tick)."""
    (a, s), (b, t) = one, other
    same_block = a // THREADS == b // THREADS
    same_warp = a // 32 == b // 32
    return a == b or (same_block and s >> 32 != t >> 32) or (same_warp and s != t)


class Watch:
    """Two elements, watched as a launch of two blocks of two warps watches them."""

    def __init__(self):
        self.elements = np.zeros((2, at.TOUCHES), np.int64)
        self.warps = np.zeros((2 * BLOCKS, at.WARP_COLUMNS), np.int64)
        self.warps[:, at.NUMBER] = range(2 * BLOCKS)
        self.warps[:, at.LOCAL] = [0, 1] * BLOCKS
        self.clocks = np.zeros((2 * BLOCKS, 2), np.int64)
        self.machine = np.zeros(at.MACHINE, np.int64)

    def sync(self, block):
        met(3, 2 * block, self.warps, self.clocks, self.machine, 2, True)

    def syncwarp(self, warp):
        self.machine[at.SEQ] += 1
        self.warps[warp, at.SYNCED] = self.machine[at.SEQ]

    def touch(self, what, threads, elements):
        call = {"read": reads, "write": writes, "atomic": adds}[what]
        found = False
        for warp in sorted({t // 32 for t in threads}):  # a request is of one warp
            self.machine[at.SEQ] += 1
            for thread, element in zip(threads, elements, strict=True):
                if thread // 32 == warp:
                    now = (self.machine[at.SEQ], self.warps, self.clocks, warp, 2, 64)
                    found |= call(self.elements, element, thread, *now)
        return found


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
@given(st.lists(events, max_size=14))
def test_every_race_and_no_other(script):
    watch = Watch()
    tick = np.zeros(2 * BLOCKS, np.int64)
    reads = {0: [], 1: []}
    writes = {0: None, 1: None}
    atomics = {0: [], 1: []}
    for what, detail in script:
        if what == "sync":
            watch.sync(detail)
            tick[2 * detail : 2 * detail + 2] += (1 << 32) + 1
        elif what == "syncwarp":
            watch.syncwarp(detail)
            tick[detail] += 1
        else:
            detail = sorted(detail)
            threads = [thread for thread, _ in detail]
            elements = [element for _, element in detail]
            found = watch.touch(what, threads, elements)
            expected = False
            for thread, element in detail:
                me = (thread, int(tick[thread // 32]))
                last = writes[element]
                expected |= last is not None and not ordered(last, me)
                if what != "read":
                    expected |= any(not ordered(r, me) for r in reads[element])
                if what != "atomic":
                    expected |= any(not ordered(a, me) for a in atomics[element])
                if what == "write":
                    expected |= sum(e == element for e in elements) > 1
            assert found == expected
            if expected:
                return  # a launch ends at its first race
            for thread, element in detail:
                me = (thread, int(tick[thread // 32]))
                if what == "write":
                    writes[element], reads[element] = me, []
                    atomics[element] = []
                elif what == "atomic":
                    atomics[element].append(me)
                else:
                    reads[element].append(me)
