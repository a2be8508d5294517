"""Section 6.10: Who rings the doorbell?"""

from __future__ import annotations

from functools import cache
from typing import Any

from stacklib import hardware, models
from stacklib.interconnect.experts.dispatch import token_bytes
from stacklib.interconnect.queues import rdma_steps as rdma
from stacklib.interconnect.queues.explore import Explored, Plan, explore
from stacklib.interconnect.queues.queue import LANES, Queue
from stacklib.pages.figures_of import measured
from stacklib.quantity import (
    Quantity,
    bytes_per_element,
    chosen,
    counting,
    one_of,
    quoted,
)
from stacklib.quantity.constants import case

MODEL, CHIP, BUS = "llama-3-70b", "h100_sxm", "pcie5_x16"
NETWORK, SWITCH, HOPS = "ib_ndr", "switch_q3400", 3
NVIDIA = "NVIDIA, Improving network performance with NVSHMEM and GPUDirect Async, 2022"
LEFT_OUT = {  # what a plan may leave out, in the order of a post
    "atomic": "the atomic reservation",
    "room": "waiting for room",
    "written_first": "writing before ringing",
    "in_turn": "waiting for one's turn",
    "forward": "ringing only forward",
}
CASE = (2, 2, 2, 4)  # producers, posts, elements a post, slots


# -- what is given ---------------------------------------------------------------------


def rate(start: str) -> Quantity:
    """Messages per second that a proxy thread or a GPU starts, as published."""
    return quoted(f"nvshmem.{start}")


def gap(start: str) -> Quantity:
    """Seconds between two of them."""
    label = f"between two messages of a {start}"
    return (one_of("s", "a second") / rate(start)).named(label)


def bus() -> Quantity:
    """There and back over the bus between port and GPU."""
    return hardware.link(BUS).latency


def switch() -> Quantity:
    """Pipeline of one switch."""
    return hardware.link(SWITCH).latency


def one_hop() -> Quantity:
    """A write between two hosts on one switch, one way, measured by others."""
    return quoted("zaratan.near")


def port() -> Quantity:
    """What of that is left for each of the two ports."""
    return ((one_hop() - bus() - switch()) / 2).named("time in a port")


def per_metre() -> Quantity:
    """How long a signal is in a metre of cable."""
    return quoted("zaratan.metre")


def metres() -> Quantity:
    """Length of a cable that we take."""
    return chosen(case("cable"), "m", label="length of a cable")


def network() -> Quantity:
    """Switches and cables between two ports."""
    hops = chosen(HOPS, label="switches")
    cables = (hops + 1) * metres() * per_metre()
    return (hops * switch() + cables).named("switches and cables")


def port_rate() -> Quantity:
    """Bandwidth of the network's port, one direction."""
    return hardware.link(NETWORK).per_direction


def gpu_write() -> Quantity:
    """Until what a GPU writes can be seen in its own memory: its L2's latency."""
    found = hardware.level(CHIP, "l2").latency
    assert found is not None
    return found


@cache
def way() -> rdma.Way:
    """All of it, as the steps take it."""
    link = hardware.link(BUS)
    return rdma.Way(
        bus(),
        link.per_direction,
        port(),
        gap("gpu"),
        network(),
        port_rate(),
        gpu_write(),
        gap("proxy"),
    )


# -- one message, and many -------------------------------------------------------------


def exchange() -> Quantity:
    """Bytes of one exchange of a layer, which here is one message."""
    hidden = models.get(MODEL).size("hidden", "hidden size")
    return (hidden * bytes_per_element("bf16")).named("bytes of a message")


def steps(start: str, size: Quantity | None = None) -> tuple[rdma.Step, ...]:
    """The steps of a message, of an exchange's size where none is given."""
    return rdma.write_steps(way(), size or exchange(), start)


def message(start: str, size: Quantity | None = None) -> Quantity:
    """Time of one message until it lies in the far GPU's memory."""
    found: Quantity = rdma.steps_time(steps(start, size))
    return found.named(f"one message, started by a {start}").to("us")


def start_time(start: str) -> Quantity:
    """Of it, until the port knows what to do."""
    first: Quantity = rdma.steps_time(steps(start)[: {"gpu": 4, "proxy": 3}[start]])
    return first.named(f"until the port knows, started by a {start}").to("us")


def rest() -> Quantity:
    """Of it the steps that both have."""
    found: Quantity = rdma.steps_time(steps("gpu")[4:])
    return found.named("from the port's reading to the far memory").to("us")


def completion() -> Quantity:
    """From there until the sender may use its buffer again."""
    return (
        rdma.steps_time(rdma.completion_steps(way()))
        .named("way of the completion")
        .to("us")
    )


def saved() -> Quantity:
    """Share of a message's time that starting it from the GPU saves."""
    proxy, gpu = message("proxy"), message("gpu")
    return ((proxy - gpu) / proxy).named("saved by starting from the GPU")


def token() -> Quantity:
    """Bytes of one token on its way to an expert: DeepSeek-V3 in fp8 with scales."""
    hidden = models.get("deepseek-v3").size("hidden", "hidden size")
    return token_bytes(hidden).named("bytes of a token on its way to an expert")


def copies() -> Quantity:
    """Messages of a dispatch: tokens of a GPU times experts of a token."""
    tokens = chosen(128, label="tokens of a GPU")
    return (tokens * chosen(8, label="experts of a token")).named("messages")


def dispatch(start: str) -> Quantity:
    """Time of that many messages, all over the network."""
    found: Quantity = rdma.steps_time(steps(start, token()), copies())
    return found.named(f"a dispatch, started by a {start}").to("us")


def dispatched() -> Quantity:
    """DeepEP's dispatch over 128 GPUs, as published."""
    return measured("D-0216")


def pace(start: str) -> Quantity:
    """Time between two of the messages once the way is full."""
    found: Quantity = rdma.longest_busy(steps(start, token()))
    return found.named(f"between messages of a dispatch, {start}").to("ns")


def under_way(start: str) -> Quantity:
    """Messages under way at once in the middle of a dispatch: Little's law."""
    one: Quantity = rdma.steps_time(steps(start, token()))
    return (one / pace(start)).named(f"messages under way, started by a {start}")


@counting("a dispatch event by event, started by a {start}", unit="s", shown="us")
def ran(start: str) -> float:
    """The dispatch once more, event by event."""
    events = rdma.run_steps(steps(start, token()), round(copies().si))
    return max(event.end for event in events)


def round_trip() -> Quantity:
    """A small message there and another one back, both started by GPUs."""
    small = chosen(8, "B", label="bytes of a small message")
    both = 2 * message("gpu", small)
    return both.named("there and back, small").to("us")


# -- the queue -------------------------------------------------------------------------


@cache
def explored(left_out: str = "") -> Explored:
    """All interleavings of two producers, with one part of the protocol left out."""
    plan = Plan(**{left_out: False}) if left_out else Plan()
    return explore(*CASE, plan)


@counting("states of the queue")
def states() -> int:
    """States that two producers and a port can reach."""
    return explored().states


@counting("ways through the states")
def ways() -> int:
    """Ways through them, from the start to the end."""
    return explored().interleavings


@counting("steps to a fault without {left_out}")
def shortest(left_out: str) -> int:
    """Steps of the shortest way to a fault."""
    return len(next(iter(explored(left_out).faults.values())))


def fault_rows() -> list[dict[str, Any]]:
    """What each part of the protocol prevents."""
    return [
        {
            "left out": words,
            "first fault": next(iter(explored(name).faults)),
            "steps": shortest(name),
        }
        for name, words in LEFT_OUT.items()
    ]


@counting(
    lambda what, together: (
        f"{what} of a warp, {'together' if together else 'each lane'}"
    )
)
def posted(what: str, *, together: bool) -> int:
    """Doorbells or atomic additions of a warp that posts a message a lane."""
    queue = Queue(2 * LANES)
    queue.post([(lane, 1, lane, 2, 64) for lane in range(LANES)], together)
    assert len(queue.send()) == LANES and not queue.faults()
    return int(getattr(queue, what))


def step_rows() -> list[dict[str, Any]]:
    """The steps that a GPU starts."""
    return [
        {
            "step": step.name,
            "by": step.by,
            "latency": step.latency.named(f"latency of: {step.name}"),
            "busy": step.busy.named(f"busy with: {step.name}"),
        }
        for step in steps("gpu")
    ]


# -- SMs -------------------------------------------------------------------------------


def sms() -> Quantity:
    """SMs of an H800, which has as many as an H100."""
    return hardware.get(CHIP).compute_units


def sending() -> Quantity:
    """SMs that DeepSeek-V3 kept for communication, as its report has it."""
    return quoted("deepseek_ai.sms")


def computing() -> Quantity:
    """SMs that are left."""
    return (sms() - sending()).named("SMs left to compute")
