"""DCQCN: its sender by hand, incasts against a fluid and a fixed point, and victims."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.interconnect.switches import fluid, shapes
from stacklib.interconnect.switches.dcqcn import BASE, PAPER, Dcqcn, Pace
from stacklib.interconnect.switches.engine import run_fabric
from stacklib.interconnect.switches.fabric import Flow, Rules, Wire
from stacklib.interconnect.switches.incast import Sender, jain, run_incast

from ...rows import refusals

OURS, FANS, ENDLESS = Dcqcn(), (2, 4, 8, 16, 32), float("inf")


# -- a sender --------------------------------------------------------------------------


class Slow:
    """A reaction point told as 802.1Qau and htsim have it, a microsecond at a time."""

    def __init__(self, of, line):
        self.of, self.line = of, line
        self.rc = self.rt = line
        self.alpha, self.t, self.bc, self.count, self.limited = 1.0, 0, 0, 0.0, False

    def notice(self):
        self.rt, self.rc = self.rc, max(self.rc * (1 - self.alpha / 2), self.of.floor)
        self.alpha = (1 - self.of.gain) * self.alpha + self.of.gain
        self.t = self.bc = self.age = self.stale = 0
        self.count, self.limited = 0.0, True

    def microsecond(self, sent):
        if not self.limited:
            return
        self.stale += 1
        if self.stale == round(self.of.decay * 1e6):
            self.alpha, self.stale = self.alpha * (1 - self.of.gain), 0
        self.age += 1
        if self.age % round(self.of.timer * 1e6) == 0 and self.rc < self.line:
            self.t += 1
            self.increase()
        if self.rc < self.line:
            self.count += sent
            while self.count >= self.of.counter:
                self.count -= self.of.counter
                self.bc += 1
                self.increase()

    def increase(self):
        if max(self.t, self.bc) <= self.of.fast:
            pass
        elif min(self.t, self.bc) > self.of.fast:
            self.rt += (min(self.t, self.bc) - self.of.fast) * self.of.hyper
        else:
            self.rt += self.of.additive
        self.rt = min(self.rt, self.line)
        self.rc = (self.rc + self.rt) / 2
        if self.rc > 0.999 * self.line:
            self.rc = self.line


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from([0, 0, 0, 0, 0, 1]), min_size=5, max_size=60),
    st.sampled_from([50, 130, 700]),
    st.sampled_from([500e3, 20e3, 10e6]),
)
def test_a_sender_does_what_the_standard_says(notices, gap, counter):
    of = replace(OURS, counter=counter)
    fast, slow = Pace(of, BASE), Slow(of, BASE)
    for k, told in enumerate(notices):
        now = (k * gap + 0.5) * 1e-6
        if told:
            fast.cut(now)
            slow.notice()
        for step in range(gap):
            fast.upto(now + (step + 1 + 1e-3) * 1e-6)
            fast.sent(4096)
            slow.microsecond(4096)
            assert fast.rate == pytest.approx(slow.rc)
        assert fast.alpha == pytest.approx(slow.alpha)


def test_the_rate_is_cut_by_the_alpha_of_before():
    """Of the HPCC simulator it was asked why alpha changes first: here it does not."""
    pace = Pace(OURS, BASE)
    pace.cut(0.0)
    assert pace.rate == BASE / 2 and pace.alpha == 1.0
    pace.upto(100.5 * OURS.decay)  # a hundred periods without a notice
    before, alpha = pace.rate, pace.alpha
    assert alpha == pytest.approx((1 - OURS.gain) ** 100)
    pace.cut(100.5 * OURS.decay)
    assert pace.rate == before * (1 - alpha / 2) and pace.target == before


def test_no_sender_stays_at_its_floor():
    pace = Pace(OURS, BASE)
    for k in range(40):
        pace.cut(k * 50e-6)
    assert pace.rate == OURS.floor
    now = 40 * 50e-6
    while pace.rate < BASE:
        now += 4096 / pace.rate
        pace.upto(now)
        pace.sent(4096)
    assert now < 10e-3 and pace.alpha < 0.7


def test_marks_begin_rise_and_are_all():
    assert [OURS.marks(x * 1e3) for x in (0, 160, 400, 640, 640.1)] == [
        0.0,
        0.0,
        pytest.approx(0.1),
        pytest.approx(0.2),
        1.0,
    ]
    step = replace(OURS, kmin=65e3, kmax=65e3)  # DCTCP's
    assert [step.marks(x) for x in (65e3, 65e3 + 1)] == [0.0, 1.0]


# -- an incast -------------------------------------------------------------------------


def senders(many, rate=BASE, *, size=ENDLESS, there=(1e-6,), apart=0.0):
    return [
        Sender(size, rate, k * apart, there[k % len(there)], 2 * there[k % len(there)])
        for k in range(many)
    ]


WORK = 60e-3  # s that a port takes for all of it


@cache
def long_run(many):
    made = senders(many, size=BASE * WORK / many)
    return run_incast(made, BASE, OURS, xoff=640e3, every=50e-6)


@pytest.mark.rows("many", FANS)
def test_an_incast_fills_its_port_and_shares_it(many):
    run = long_run(many)
    assert WORK / max(run.ended) > 0.95  # from the first byte to the last flow's end
    assert sum(run.goodput(10e-3, 45e-3)) > 0.95 * BASE
    assert jain(run.goodput(5e-3, 15e-3)) > 0.95
    assert run.longest < (many + 1) * 640e3 + many * 50e3  # what pauses let wait


@pytest.mark.rows("many", FANS)
def test_the_queue_is_the_fluids_and_the_fixed_points(many):
    queue, point = (
        long_run(many).mean_queue(15e-3, 45e-3),
        fluid.still(OURS, BASE, many),
    )
    flow = fluid.run_fluid(OURS, BASE, [BASE] * many, until=30e-3, step=4e-6)
    late = flow.queue[len(flow.queue) // 2 :]
    assert queue == pytest.approx(sum(late) / len(late), rel=0.2)
    assert queue == pytest.approx(point.queue, rel=0.2)
    assert flow.queue[-1] == pytest.approx(point.queue, rel=0.06)
    assert flow.rates[-1][0] == pytest.approx(BASE / many, rel=0.02)


@pytest.mark.rows("many", (2, 8, 32))
def test_the_rate_is_back_after_the_others_have_left(many):
    sized = [*senders(1), *senders(many, size=BASE * 8e-3 / many)[1:]]
    run = run_incast(sized, BASE, OURS, xoff=640e3, until=20e-3)
    gone = max(run.ended[1:])
    at = next(
        time
        for time, rates in zip(run.times, run.rates, strict=True)
        if time > gone and rates[0] > 0.95 * BASE
    )
    assert at - gone < 5e-3
    assert run.goodput(at, at + 1e-3)[0] > 0.95 * BASE
    # The steps of the paper take tens of milliseconds.
    slow = run_incast(sized, BASE, PAPER, xoff=640e3, until=20e-3)
    assert slow.rates[-1][0] < 0.95 * BASE


@pytest.mark.rows(
    "rate, many, frame, there, apart",
    [
        (3.125e9, 8, 4096, (1e-6,), 0.0),
        (12.5e9, 4, 4096, (1e-6,), 0.0),
        (100e9, 16, 65_536, (1e-6,), 0.0),
        (2.5e9, 8, 1024, (1e-6,), 0.0),
        (BASE, 16, 9000, (0.2e-6,), 0.0),
        (BASE, 8, 4096, (1e-6, 10e-6), 0.0),  # a far sender beside each near one
        (BASE, 16, 4096, (1e-6,), 0.2e-3),  # a late one finds others at work
    ],
)
def test_other_ports_frames_ways_and_starts(rate, many, frame, there, apart):
    of = OURS.scaled(rate)
    begun = many * apart
    made = senders(many, rate, there=there, apart=apart)
    run = run_incast(
        made, rate, of, frame=frame, xoff=of.kmax, until=26e-3 + begun, every=50e-6
    )
    assert sum(run.goodput(begun + 10e-3, begun + 25e-3)) > 0.95 * rate
    assert jain(run.goodput(begun + 5e-3, begun + 15e-3)) > 0.95
    queue = run.mean_queue(begun + 10e-3, begun + 25e-3)
    assert queue == pytest.approx(fluid.still(of, rate, many, frame).queue, rel=0.2)


def test_one_sender_alone_is_not_slowed():
    run = run_incast(senders(1, size=10e6), BASE, OURS)
    assert run.marked == run.notices == run.pauses == 0 and run.longest <= 4096
    assert run.ended[0] == pytest.approx(10e6 / BASE + 1e-6)


def test_odd_frames_wires_and_pauses_still_end():
    of, thirds = OURS, senders(3, size=1e6 / 3)
    assert None not in run_incast(thirds, BASE, of).ended
    tight = run_incast(thirds, BASE, of, xoff=100)
    assert tight.pauses and tight.longest <= 3 * 2 * 4096
    whole = run_incast(thirds, BASE, of, frame=1_000_000)
    assert whole.longest == pytest.approx(2e6 / 3)
    slow = [*senders(2, 4 * BASE, size=1e6), *senders(1, BASE / 10, size=1e6)]
    assert max(run_incast(slow, BASE, of).ended) == pytest.approx(1e7 / BASE, rel=0.3)
    assert run_incast(thirds, BASE, of, until=1e-9).ended == (None,) * 3
    instant = replace(of, decay=1e-12)  # a period of alpha takes no time to count
    assert None not in run_incast(thirds, BASE, instant).ended


def test_senders_that_nobody_slows_keep_every_byte_waiting():
    run = run_incast(senders(4, size=1e6), BASE)
    assert max(run.ended) == pytest.approx(4e6 / BASE, rel=1e-2)
    assert run.longest == pytest.approx(3e6, rel=0.02)
    paused = run_incast(senders(4, size=1e6), BASE, xoff=50e3)
    assert paused.pauses and max(paused.ended) == pytest.approx(4e6 / BASE, rel=1e-2)
    assert paused.longest < 4 * (50e3 + 3 * 4096 + 2e-6 * BASE)


@settings(max_examples=4)
@given(st.integers(2, 5), st.sampled_from([1e-6, 7e-6]), st.integers(0, 9))
def test_the_fabric_run_event_by_event_ends_at_the_same_times(many, far, seed):
    delays = [far if k % 2 else 1e-6 for k in range(many)]
    wires = {("s", "b"): Wire(BASE, 1e-6), ("b", "s"): Wire(BASE, 1e-6)}
    for k, delay in enumerate(delays):
        wires |= shapes.both_ways([(f"a{k}", "s")], Wire(BASE, delay))
    flows = [
        Flow(((f"a{k}", "s", "b"),), 1_000_000 + 77 * k, 1e-5 * k) for k in range(many)
    ]
    run = run_fabric(wires, flows, Rules(dcqcn=OURS, latency=5e-7, seed=seed))
    made = [
        Sender(
            flow.size, BASE, flow.start, delay + 64 / BASE + 5e-7, 2e-6 + delay + 5e-7
        )
        for flow, delay in zip(flows, delays, strict=True)
    ]
    fast = run_incast(made, BASE, OURS, seed=seed)
    assert [end - 1e-6 for end in run.ended] == pytest.approx(fast.ended, rel=1e-9)
    assert (run.marked, max(run.longest.values())) == (fast.marked, fast.longest)


def test_runs_repeat_and_threads_share_nothing():
    def one(seed):
        return run_incast(senders(4), BASE, OURS, until=6e-3, seed=seed)

    alone = [one(1), one(2)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(one, (1, 2))) == alone
    assert alone[0] != alone[1]


# -- a fluid ---------------------------------------------------------------------------


def swing(many, delay):
    run = fluid.run_fluid(
        PAPER, BASE, [BASE] * many, frame=1000, delay=delay, until=0.08, step=2e-6
    )
    late = run.queue[len(run.queue) // 2 :]
    return (max(late) - min(late)) / fluid.still(PAPER, BASE, many, 1000).queue


def test_the_fluid_is_unstable_where_the_paper_found_it():
    """ECN or Delay, section 3: ten flows swing at 85 us, two do not, and none at 4."""
    assert swing(10, 85e-6) > 1.5
    assert swing(2, 85e-6) < 0.7
    assert swing(10, 4e-6) < 0.1


def test_the_fixed_point_and_its_cube_root():
    for many in (2, 8, 32):
        soft = replace(PAPER, additive=5.0)  # marks become rare: the root is exact
        point = fluid.still(soft, BASE, many)
        assert fluid.near_mark(soft, BASE, many) == pytest.approx(point.mark, rel=0.02)
        assert point.target > BASE / many and 0 < point.alpha < 1
    # Twice as many flows: four times the marks' cube, and slower counters.
    low, high = (
        fluid.near_mark(replace(PAPER, counter=1e30), BASE, n) for n in (8, 16)
    )
    assert high / low == pytest.approx(2 ** (4 / 3))
    assert fluid.still(PAPER, BASE, 64).queue == PAPER.kmax
    assert fluid.near_mark(PAPER, BASE, 2, 1000) == pytest.approx(9.3e-4, rel=0.01)


# -- others ----------------------------------------------------------------------------


def victim(of):
    """A flow for a free port, behind the pauses of another port's incast."""
    wires, ways = shapes.behind(4, Wire(BASE, 1e-6))
    rules = Rules(control="pause", buffer=640e3, dcqcn=of, latency=5e-7)
    run = run_fabric(wires, [Flow((way,), 2 << 20, frame=8192) for way in ways], rules)
    assert run.faults() == []
    return (2 << 20) / run.ended[0] / BASE, run.paused.get(("s", "t"), 0.0)


def test_a_victim_of_pauses_is_free_where_senders_are_slowed():
    share, paused = victim(None)
    assert share < 0.4 and paused > 0
    share, paused = victim(OURS)
    assert share > 0.95 and paused == 0


def test_flows_hashed_onto_one_spine_share_it():
    wires, paths = shapes.two_tiers(3, 1, Wire(BASE, 1e-6))
    flows = [Flow(path, 32 << 20, frame=65_536) for path in paths]
    plain, slowed = (
        run_fabric(wires, flows, Rules(dcqcn=of, latency=5e-7)) for of in (None, OURS)
    )
    assert max(plain.longest.values()) > 4 * max(slowed.longest.values())
    assert slowed.time < 1.25 * plain.time and min(slowed.ended) > 0.8 * slowed.time


test_bad_input_is_refused = refusals(
    (lambda: Dcqcn(kmin=2e5, kmax=1e5), "kmax = 100000.0: a number from 200000.0 up"),
    (lambda: Dcqcn(pmax=0), "pmax = 0"),
    (lambda: Dcqcn(pmax=1.5), "pmax = 1.5"),
    (lambda: Dcqcn(gain=0), "gain = 0"),
    (lambda: Dcqcn(gain=2), "gain = 2"),
    (lambda: Dcqcn(gain=math.nan), "gain = nan"),
    (lambda: Dcqcn(timer=0), "timer = 0"),
    (lambda: Dcqcn(notice=0), "notice = 0"),
    (lambda: Rules(dcqcn=50e3), "dcqcn = 50000.0"),
    (lambda: Dcqcn(kmin=True), "kmin = True"),
    (lambda: Dcqcn(fast=2.5), "fast = 2.5"),
    (lambda: Dcqcn(floor=0), "floor = 0"),
    (lambda: OURS.scaled(0), "rate = 0"),
    (lambda: run_incast([], BASE, OURS), "senders is empty"),
    (lambda: run_incast(senders(2), BASE, OURS), "until = inf"),
    (lambda: run_incast(senders(2, size=1e6), 0, OURS), "rate = 0"),
    (lambda: run_incast(senders(2, size=1e6), BASE, frame=0.5), "frame = 0.5"),
    (lambda: run_incast(senders(2, size=1e6), BASE, xoff=-1), "xoff = -1"),
    (lambda: Sender(0, BASE), "size = 0"),
    (lambda: Sender(1e6, math.nan), "rate = nan"),
    (lambda: Sender(1e6, BASE, start=-1), "start = -1"),
    (lambda: jain([0, 0]), "at least one above zero"),
    (lambda: long_run(2).goodput(0, 1.0), "samples are from 0 to 0.06"),
    (lambda: long_run(2).mean_queue(1e-3, 1e-3), "from 0.001 to 0.001 s"),
    (lambda: fluid.still(OURS, BASE, 0), "flows = 0"),
    (lambda: fluid.near_mark(OURS, -1.0, 2), "rate = -1.0"),
    (lambda: fluid.run_fluid(OURS, BASE, []), "number of starts = 0"),
)
