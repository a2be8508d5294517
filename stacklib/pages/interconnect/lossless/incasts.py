"""Incasts of section 6.9: senders into one port, slowed by marks; all but one leave."""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib.interconnect.switches import fluid
from stacklib.interconnect.switches.dcqcn import BASE, PAPER, Dcqcn
from stacklib.interconnect.switches.incast import Incast, Sender, jain, run_incast
from stacklib.pages.interconnect import lossless as page
from stacklib.plots.marks import Mark, Spec, axis, chart, line, rule
from stacklib.quantity import Quantity, chosen, counted, counting, quoted
from stacklib.roofline.work.moving import link_time

FANS, SHOWN, EVERY = (2, 4, 8, 16, 32), 8, 50e-6
STEP = 4e-6  # s of the fluid
TOGETHER, END = 8.0, 15.0  # ms: the port's time for what all send at once; of a run
SETTLED = (3e-3, 7e-3)  # s between which a run is judged: all send, rates have met
PAUSE = 2.0  # MB of a sender that wait when it is paused
STEPS = {"ours": Dcqcn(), "2015": PAPER}


def of(steps: str = "ours") -> Dcqcn:
    """Constants for the page's ports."""
    return STEPS[steps].scaled(page.rate().si)


def together() -> Quantity:
    """Time in which the port could take what all send before the others leave."""
    return chosen(TOGETHER, "ms", label="time of the port for all of it")


@cache
def run(many: int, steps: str = "ours") -> Incast:
    """Each sends its share of that time, and one of them goes on."""
    port, cable = page.rate().si, page.cable().si
    there = cable + page.latency("ethernet").si + link_time(page.HEADER, page.NETWORK)
    back = 2 * cable + page.latency("ethernet").si + cable
    share = port * together().si / many
    senders = [
        Sender(share if k else float("inf"), port, there=there, back=back)
        for k in range(many)
    ]
    xoff = chosen(PAUSE, "MB").si
    end = END * 1e-3
    return run_incast(
        senders, port, of(steps), frame=page.FRAME, xoff=xoff, until=end, every=EVERY
    )


@counting("share of the port in use, {many} senders")
def used(many: int) -> float:
    """Of the port's bandwidth, while all send."""
    return sum(run(many).goodput(*SETTLED)) / page.rate().si


@counting("fairness, {many} senders")
def fair(many: int) -> float:
    """Jain's index of what each got, while all send."""
    return jain(run(many).goodput(*SETTLED))


@counting("queue, {many} senders", unit="B", shown="MB")
def waits(many: int) -> float:
    """Mean bytes that wait before the port, while all send."""
    return run(many).mean_queue(*SETTLED)


@counting("queue of the fluid, {many} senders", unit="B", shown="MB")
def flows(many: int) -> float:
    """The same by the delay equations."""
    return _fluid(many).queue[-1]


@counting("queue of the fixed point, {many} senders", unit="B", shown="MB")
def stands(many: int) -> float:
    """The same where nothing changes any more."""
    return fluid.still(of(), page.rate().si, many, page.FRAME).queue


@cache
def _fluid(many: int) -> fluid.Course:
    port = page.rate().si
    given: dict[str, Any] = {"frame": page.FRAME, "until": 20e-3, "step": STEP}
    return fluid.run_fluid(of(), port, [port] * many, **given)


def gone(many: int, steps: str = "ours") -> float:
    """Seconds until the last of the others had sent its share."""
    return max(end for end in run(many, steps).ended[1:] if end)


@counting("the others done, {many} senders", unit="s", shown="ms")
def done(many: int) -> float:
    """Until the last of the others had sent its share."""
    return gone(many)


@counting("rate back, {many} senders", unit="s", shown="ms")
def back(many: int) -> float:
    """From then until the one that stays has nineteen twentieths of the port."""
    made, left = run(many), gone(many)
    enough = 0.95 * page.rate().si
    both = zip(made.times, made.rates, strict=True)
    return (
        next(time for time, rates in both if time > left and rates[0] > enough) - left
    )


@counting("rate at the end, steps of 2015")
def slow() -> float:
    """Share of the port that it has at the end of the run with the paper's steps."""
    return run(SHOWN, "2015").rates[-1][0] / page.rate().si


def rows() -> list[dict[str, Any]]:
    """By fan-in: the port, fairness, the queue three ways, and both times."""
    return [
        {
            "senders": chosen(many, label="hosts that send to one"),
            "port in use": used(many),
            "fairness": fair(many),
            "queue": waits(many),
            "fluid": flows(many),
            "fixed point": stands(many),
            "others done": done(many),
            "rate back": back(many),
        }
        for many in FANS
    ]


def step(whose: str) -> Quantity:
    """Additive step over the bandwidth of the port: the paper's, htsim's, ours."""
    if whose == "htsim":
        return quoted("htsim.step")
    if whose == "paper":
        return (quoted("dcqcn.step") / quoted("dcqcn.port")).named(
            "its step, of a port"
        )
    own = counted(Dcqcn, take="additive", unit="B/s", label="our step")
    return (own / chosen(BASE, "B/s", label="its port")).named("our step, of a port")


def over_time() -> Spec:
    """Rates of the one that stays, and the queue."""
    made, old, course = run(SHOWN), run(SHOWN, "2015"), _fluid(SHOWN)
    few = slice(0, None, 2)
    shown = slice(0, round(TOGETHER * 1e-3 / STEP), 25)

    def rate(of: Incast, name: str) -> Mark:
        gb = [rates[0] / 1e9 for rates in of.rates[few]]
        return line(_ms(of.times[few]), gb, name, "simulated", at="key")

    return chart(
        "Marks keep the queue short, and the third stage brings the rate back.",
        x=axis("Time (ms)", limits=[0, END]),
        y=axis("Rate (GB/s), queue (MB)", limits=[0, 1.04 * page.rate().value]),
        marks=[
            rate(made, "rate of the one that stays"),
            rate(old, "its rate with the paper's steps"),
            line(
                _ms(made.times[few]),
                [wait / 1e6 for wait in made.queue[few]],
                "queue",
                "simulated",
                at="key",
            ),
            line(
                _ms(course.times[shown]),
                [wait / 1e6 for wait in course.queue[shown]],
                "queue of a fluid",
                "predicted",
                at="key",
            ),
            rule("the others leave", "simulated", x=1e3 * gone(SHOWN)),
        ],
    )


def _ms(times: tuple[float, ...]) -> list[float]:
    return [1e3 * time for time in times]
