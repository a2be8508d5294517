"""Who may see what whose store: small programs with the answers of PTX's memory model.

The patterns are those of J. Alglave et al., *GPU concurrency* (ASPLOS 2015); what is
allowed is NVIDIA's *PTX ISA*, chapter *Memory Consistency Model*: a fence and a relaxed
store after it release, in the fence's scope; a plain access without order is a race.
"""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu import KernelError


def fenced(t, how):
    if how == "device":
        t.fence()
    if how == "block":
        t.fence_block()


def message(how, reader):
    """Message passing: data, a flag, and who waits for the flag."""

    def kernel(t, data, flags, out):
        if t.block.x == 0 and t.thread.x == 0:
            data[0] = 5
            fenced(t, how)
            t.atomic_exch(flags, 0, 1)
        if t.block.x * 64 + t.thread.x == reader:
            while t.atomic_add(flags, 0, 0) == 0:
                pass
            t.fence()
            out[0] = data[0]

    return kernel


def released(t, data, flags, out):
    """The same in one word each."""
    if t.block.x == 0 and t.thread.x == 0:
        data[0] = 5
        t.store_release(flags, 0, 1)
    elif t.block.x == 1 and t.thread.x == 0:
        while t.load_acquire(flags, 0) == 0:
            pass
        out[0] = data[0]


def plain_flag(t, data, flags, out):
    """The flag is no atomic."""
    if t.block.x == 0 and t.thread.x == 0:
        data[0] = 5
        t.fence()
        flags[0] = 1
    elif t.block.x == 1 and t.thread.x == 0:
        out[0] = flags[0] + data[0]


def whole_block(how):
    """All fence, meet, one raises the flag; one waits, fences, all meet and read."""

    def kernel(t, data, flags, out):
        i = t.thread.x
        if t.block.x == 0:
            data[i] = 5
            fenced(t, how)
            t.sync()
            if i == 0:
                t.atomic_exch(flags, 0, 1)
        else:
            if i == 0:
                while t.atomic_add(flags, 0, 0) == 0:
                    pass
                t.fence()
            t.sync()
            out[i] = data[63 - i]

    return kernel


def lock(how, counted=False):
    """Every thread takes a lock, lanes of one warp in turn; some count their tries."""

    def kernel(t, data, flags, out):
        tries = 0
        while t.atomic_cas(flags, 0, 0, 1) != 0:
            if counted:
                tries += 1
        fenced(t, how)
        out[0] = out[0] + 1 if out[0] < 5 else 5
        fenced(t, how)
        t.atomic_exch(flags, 0, 0)

    return kernel


def lane_by_lane(t, data, flags, out):
    """Each lane waits for the one before it, and the block for all of them."""
    i = t.thread.x
    if t.block.x == 0:
        if i > 0:
            while t.load_acquire(flags, i - 1) == 0:
                pass
            data[i] = data[i - 1] + 1
        t.store_release(flags, i, 1)
        t.sync()
        out[i] = data[63 - i]


def one_value(relaxed):
    """Many raise one flag, as a search by breadth does."""

    def kernel(t, data, flags, out):
        if relaxed:
            t.store_relaxed(flags, 0, 5)
        else:
            flags[0] = 5
        if t.block.x == 0 and t.thread.x == 0:
            out[0] = t.load_acquire(flags, 0)

    return kernel


def rest_of_a_block(t, data, flags, out):
    """A warp has ended when the others meet."""
    i = t.thread.x
    if i < 32 and t.block.x == 0:
        data[i] = 5
        t.sync()
        out[i] = data[31 - i]


def crossed(atomic):
    """Store buffering and load buffering: each writes one, and reads the other."""

    def kernel(t, data, flags, out):
        if t.thread.x == 0:
            me = t.block.x
            if atomic:
                t.atomic_exch(data, me, 5)
                out[me] = t.atomic_add(data, 1 - me, 0)
            else:
                data[me] = 5
                t.fence()
                out[me] = data[1 - me]

    return kernel


LITMUS = [
    *((message(how, 32), how != "") for how in ("", "block", "device")),
    *((message(how, 1), how != "") for how in ("", "block", "device")),
    *((lock(how), how == "device") for how in ("", "block", "device")),
    (lane_by_lane, True),
    *((message(how, 64), how == "device") for how in ("", "block", "device")),
    (released, True),
    (plain_flag, False),
    *((whole_block(how), how == "device") for how in ("", "block", "device")),
    (one_value(relaxed=True), True),
    (one_value(relaxed=False), False),
    (rest_of_a_block, True),
    *((crossed(atomic), atomic) for atomic in (False, True)),
]


@pytest.mark.rows("case", range(len(LITMUS)))
def test_what_others_may_see(case):
    kernel, allowed = LITMUS[case]
    arrays = [np.zeros(64, np.int32) for _ in range(3)]
    if not allowed:
        with pytest.raises(KernelError, match=r"while another lane|store_relaxed"):
            gpu.launch(kernel, 2, 64, "h100", *arrays)
        return
    out = gpu.launch(kernel, 2, 64, "h100", *arrays).results["out"]
    assert 5 in out


def test_lanes_that_count_their_tries_take_a_lock_in_turn():
    arrays = [np.zeros(8, np.int32) for _ in range(3)]
    kernel = lock("device", counted=True)
    assert gpu.launch(kernel, 1, 8, "h100", *arrays).results["out"][0] == 5


def test_lanes_that_wait_for_each_other_are_a_deadlock():
    def kernel(t, flags):
        me = t.lane % 2
        while t.load_acquire(flags, me) == 0:
            pass
        t.store_release(flags, 1 - me, 1)

    with pytest.raises(KernelError, match="deadlock"):
        gpu.launch(kernel, 1, 32, "h100", np.zeros(2, np.int32))
