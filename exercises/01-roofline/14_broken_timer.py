"""A timer that is not fooled.

level: build

Write the timer that this section ends with. You get a chip with a queue and one
kernel:

- `chip.launch()` enqueues the kernel and returns at once,
- `chip.synchronize()` returns when the queue is empty,
- `chip.clock()` reads the host's clock in seconds, in steps of `chip.tick` seconds.

Return the seconds that one call takes, warm and undisturbed. The chips of the tests
are simulated, and each has a trap in it: a queue, a first call that compiles, a clock
too coarse for one call, neighbours who slow some calls and quicken none. You are not
told which. Within a twentieth of the truth counts as right. Suppose that you may run
100,000 kernels on a chip, and not more.

hint: Write `elapsed(chip, calls)` first: drain the queue, read the clock, launch,
drain again, read. Call it a few times before you trust it. Then double the calls
until what you read is hundreds of ticks, and not more, or you average your
neighbours in. Last, which of many samples did they disturb least?
"""

from stacklib.grading import expect
from stacklib.roofline.timing.queued import Kernel, SimulatedDevice

# ---- your answer ----


def elapsed(chip, calls):
    """Seconds from an empty queue through so many calls to an empty queue."""
    chip.synchronize()
    began = chip.clock()
    for _ in range(calls):
        chip.launch()
    chip.synchronize()
    return chip.clock() - began


def time_call(chip):
    """Seconds that one call takes, warm and undisturbed."""
    elapsed(chip, 3)
    calls = 1
    while elapsed(chip, calls) < 200 * chip.tick:
        calls *= 2
    return min(elapsed(chip, calls) for _ in range(21)) / calls


# ---- tests ----

LAUNCH = 2e-6
MOST = 100_000


class Chip:
    """A simulated device with one kernel that takes ``seconds``."""

    def __init__(self, seconds, tick=1e-9, **traps):
        self.tick, self.looks = tick, 0
        self._kernel = Kernel("kernel", seconds)
        self._device = SimulatedDevice(launch_s=LAUNCH, tick_s=tick, **traps)

    def launch(self):
        if self._device.ran >= MOST:
            raise expect.Mistake(f"the chip ran {MOST:,} kernels and is still asked")
        self._device.launch(self._kernel)

    def synchronize(self):
        self._device.synchronize()

    def clock(self):
        self.looks += 1
        return self._device.clock()

    def ran(self):
        return self._device.ran


def check(seconds, trap, why, **traps):
    """Time one chip; ``trap`` says whether its reading fell into the trap."""
    chip = Chip(seconds, **traps)
    value = expect.call(time_call, {"chip": chip})
    read = expect.read(value, "s")
    expect.reading("kernels the chip ran", chip.ran())
    if not chip.ran() or not chip.looks:
        raise expect.Mistake("no kernel was run, or nobody looked at the clock")
    if trap(read):
        raise expect.Mistake(f"{1e6 * read:.4g} µs for {1e6 * seconds:.4g} µs: {why}")
    expect.number(value, seconds, unit="s", rel=0.05)


def test_a_queue():
    why = "that is the launch; you read the clock while the device worked"
    for seconds in (200e-6, 900e-6):
        check(seconds, lambda read: 0.9 * LAUNCH < read < 1.5 * LAUNCH, why)


def test_a_first_call():
    why = "the first call is still in it"
    first = 0.5
    check(200e-6, lambda read: shared(first, read - 200e-6), why, first_s=first)


def shared(first, more):
    """Whether what was read too much is the first call's time, spread over some."""
    over = first / more if more > 0 else 0
    return 0.5 < over < 1000 and abs(over - round(over)) < 0.02


def test_a_coarse_clock():
    why = "not one tick passed while you looked; put more calls between two readings"
    for start in (0.0, 0.037e-3, 0.099e-3):
        check(20e-6, lambda read: read == 0, why, tick=1e-4, offset_s=start)


def test_neighbours():
    others = 40e-6
    why = "other work only ever adds, and a mean keeps what it added"
    for seed in (1, 2, 3):
        check(
            200e-6,
            lambda read: 0.5 * others < read - 200e-6 < 1.5 * others,
            why,
            others_s=others,
            seed=seed,
        )
