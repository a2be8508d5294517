"""Section 6.9: Where do five microseconds come from?"""

from __future__ import annotations

from functools import cache
from statistics import mean
from typing import Any

from stacklib import hardware
from stacklib.interconnect.switches import closed, shapes
from stacklib.interconnect.switches.dcqcn import Dcqcn
from stacklib.interconnect.switches.engine import run_fabric
from stacklib.interconnect.switches.fabric import FabricRun, Flow, Rules, Wire
from stacklib.pages.interconnect import rdma
from stacklib.plots.live.parts import stand
from stacklib.quantity import Quantity, chosen, counted, counting, quoted
from stacklib.roofline.work.moving import link_time

NETWORK, FRAME, HEADER, HOPS = "ib_ndr", 4096, 64, 3
SWITCHES = {"infiniband": "switch_q3400", "ethernet": "switch_sn5600"}
EVERY, UNTIL, SOURCES = 8e-6, 800e-6, 32  # s between our messages, s of a run, hosts
LOADS = (0.5, 0.8, 0.9)
SPINES = 8
INCAST, BURST, XOFF = 8, 1 << 16, 1 << 15  # hosts, bytes of each, bytes of a threshold
LONG, ROOM = (
    16_000_000,
    2e6,
)  # bytes of each flow, and of an input, where one is a victim


# -- what is given ---------------------------------------------------------------------


def rate() -> Quantity:
    """Bandwidth of a port, one direction."""
    return hardware.link(NETWORK).per_direction


def message() -> Quantity:
    """Bytes of one exchange."""
    return rdma.exchange()


def frame() -> Quantity:
    """Bytes of a frame."""
    return stand(__name__, "frame", FRAME, "B").named("bytes of a frame")


def on_wire(size: Quantity | None = None) -> Quantity:
    """How long a port sends a message, or so many bytes."""
    return link_time(size or message(), NETWORK).named("time on the wire")


def latency(kind: str) -> Quantity:
    """Pipeline of a switch."""
    return hardware.link(SWITCHES[kind]).latency


def cable() -> Quantity:
    """Delay of one cable."""
    return (rdma.metres() * rdma.per_metre()).named("delay of a cable")


def hops(count: int = HOPS) -> Quantity:
    """Switches on the way."""
    return stand(__name__, "hops", count).named("switches on the way")


# -- quiet -----------------------------------------------------------------------------


def way(kind: str = "infiniband", forwarding: str = "cut") -> Quantity:
    """A message over all switches while nobody else sends."""
    given = {"rate": rate(), "hops": hops(), "latency": latency(kind)}
    given |= {"cable": cable()}
    found: Quantity
    if forwarding == "cut":
        header = chosen(HEADER, "B", label="bytes of a header")
        found = closed.cut_through_time(message(), header=header, **given)
    else:
        found = closed.stored_time(message(), frame=frame(), **given)
    return found.named(f"quiet way, {kind}, {forwarding}").to("us")


def stored_more(kind: str = "ethernet") -> Quantity:
    """What storing every frame adds."""
    return (way(kind, "store") - way(kind)).named("added by storing").to("ns")


@counting("quiet run, {kind}, {forwarding}", unit="s", shown="us")
def quiet_run(kind: str, forwarding: str) -> float:
    """The same, frame by frame."""
    wires, path, _ = shapes.row(HOPS, _wire())
    rules = Rules(forwarding, latency(kind).si, HEADER)
    return run_fabric(wires, [Flow((path,), round(message().si))], rules).time


def _wire() -> Wire:
    return Wire(rate().si, cable().si)


# -- busy ------------------------------------------------------------------------------


def loaded(load: float) -> Quantity:
    """Share of the time in which a port sends."""
    return stand(__name__, "load", load).named(f"load of a port, {load:.0%}")


def waited(load: float) -> Quantity:
    """Mean wait before one port that others' messages load."""
    found: Quantity = closed.mean_wait(loaded(load), on_wire())
    return found.named(f"mean wait at a load of {load:.0%}").to("us")


def busy(load: float = LOADS[-1]) -> Quantity:
    """The same message while others load every port of its way."""
    return (way() + hops() * waited(load)).named(f"behind others, {load:.0%}").to("us")


@cache  # a message's frames go as one: a quarter of the events, and the same waits
def _loaded(load: float) -> tuple[float, ...]:
    size, port = round(message().si), rate().si
    wires, path, others = shapes.row(HOPS, _wire(), sources=SOURCES)
    own = size / (EVERY * port)
    crowd = shapes.crowd(
        others, load=load - own, rate=port, size=size, until=UNTIL, frame=size
    )
    first, last = int(0.1 * UNTIL / EVERY), int(0.95 * UNTIL / EVERY)
    mine = [Flow((path,), size, at * EVERY, size) for at in range(first, last)]
    run = run_fabric(wires, mine + crowd, Rules("cut", latency("infiniband").si))
    return tuple(e - f.start for e, f in zip(run.ended, mine, strict=False) if e)


@counting("run at {load:.0%}", unit="s", shown="us")
def busy_run(load: float) -> float:
    """Mean of messages that a run sends behind others."""
    return mean(_loaded(load))


@counting("slowest at {load:.0%}", unit="s", shown="us")
def worst(load: float) -> float:
    """The slowest of them."""
    return max(_loaded(load))


def load_rows() -> list[dict[str, Any]]:
    """Loads: predicted, the run, its slowest message."""
    return [
        {
            "load": loaded(load),
            "predicted": busy(load),
            "run": busy_run(load),
            "slowest": worst(load),
        }
        for load in LOADS
    ]


# -- hashed and sprayed ----------------------------------------------------------------


@counting("chance that two flows share a spine")
def clash() -> float:
    """Chance that at least two of the flows share a spine."""
    return float(closed.clash_chance(SPINES, SPINES))


@counting("flows on the busiest spine")
def busiest() -> float:
    """Mean number of flows on the spine that got most."""
    return float(closed.mean_busiest(SPINES, SPINES))


FAR = 300  # m of the cables of one spine, where one is farther than the others
BULK = 1 << 17  # bytes of each flow
ROUTES = {
    "hashed": ("hash", "in order"),
    "sprayed, any order": ("spray", "any order"),
    "sprayed, go-back-N": ("spray", "in order"),
}


@cache
def tiers(name: str, far: bool = False, seed: int = 0) -> FabricRun:
    """As many flows as spines, from one leaf to another; one spine may be farther."""
    routing, order = ROUTES[name]
    wires, paths = shapes.two_tiers(SPINES, SPINES, _wire())
    if far:
        long = _wire()._replace(delay=(chosen(FAR, "m") * rdma.per_metre()).si)
        ends = [("left", f"spine{SPINES - 1}"), (f"spine{SPINES - 1}", "right")]
        wires |= shapes.both_ways(ends, long)
    rules = Rules(
        latency=latency("ethernet").si, routing=routing, order=order, seed=seed
    )
    return run_fabric(wires, [Flow(path, BULK) for path in paths], rules)


def hashed_loads(seed: int = 0) -> list[int]:
    """Flows on each spine, by the bytes that its wire to the far leaf carried."""
    carried = tiers("hashed", seed=seed).carried
    whole = [carried.get((f"spine{s}", "right"), 0.0) for s in range(SPINES)]
    return [round(bytes_ / BULK) for bytes_ in whole]


@counting(
    lambda name, far: (
        f"flows {name}, {'one spine farther' if far else 'all spines alike'}"
    ),
    unit="s",
    shown="us",
)
def spread(name: str, far: bool = False) -> float:
    """Time until all flows have ended; of hashes the mean of several."""
    seeds = range(12) if name == "hashed" else range(1)
    return mean(tiers(name, far, seed).time for seed in seeds)


@counting("frames resent, {name}")
def resent(name: str) -> int:
    """Frames sent again, with one spine farther than the others."""
    return tiers(name, True).resent


def alone() -> Quantity:
    """One such flow with a spine of its own."""
    header = chosen(HEADER, "B", label="bytes of a header")
    found: Quantity = closed.cut_through_time(
        chosen(BULK, "B", label="bytes of a flow"),
        rate=rate(),
        hops=hops(),
        latency=latency("ethernet"),
        header=header,
        cable=cable(),
    )
    return found.named("a flow alone").to("us")


def hashed_told() -> Quantity:
    """The last of the hashed flows: a flow's way, and its neighbours' bytes."""
    more = (busiest() - 1) * on_wire(chosen(BULK, "B", label="bytes of a flow"))
    return (alone() + more).named("flows hashed, told").to("us")


# -- what is done about full buffers ---------------------------------------------------


def response() -> Quantity:
    """Time until a port obeys a pause, at most."""
    time = link_time(quoted("pauses.delay").to("B"), NETWORK)
    return time.named("until a pause is obeyed").to("us")


def headroom(metres: float | None = None) -> Quantity:
    """Bytes an input needs beyond its threshold, for a cable of so many metres."""
    long = rdma.metres()
    if metres is not None:
        long = chosen(metres, "m", label="length of a long cable")
    found: Quantity = closed.headroom(
        rate(), cable=long * rdma.per_metre(), response=response(), frame=frame()
    )
    return found.named(f"headroom, {long.text()}").to("kB")


CONTROLS = {
    "credits": {"control": "credit", "buffer": XOFF},
    "pause, with headroom": {"control": "pause", "buffer": XOFF},
    "pause, no headroom": {"control": "pause", "buffer": XOFF, "headroom": 0},
    "drop and go back": {"control": "drop", "buffer": XOFF},
}


@cache
def incast(name: str) -> FabricRun:
    """Hosts that all send to one at once."""
    ends = [(f"a{k}", "s") for k in range(INCAST)] + [("s", "b")]
    wires = shapes.both_ways(ends, _wire())
    flows = [Flow(((f"a{k}", "s", "b"),), BURST) for k in range(INCAST)]
    given: dict[str, Any] = {"response": response().si, "headroom": headroom().si}
    return run_fabric(wires, flows, Rules(**given | CONTROLS[name]))


def of_burst(name: str, what: str) -> float:
    """What a burst takes under one control: seconds, packets dropped, resent."""
    return float(getattr(incast(name), what))


def control_rows() -> list[dict[str, Any]]:
    """What each does with the same burst."""
    return [
        {
            "buffers": name,
            "time": counted(of_burst, name, "time", unit="s", label=f"burst, {name}"),
            "dropped": counted(of_burst, name, "dropped", label=f"dropped, {name}"),
            "resent": counted(of_burst, name, "resent", label=f"resent, {name}"),
        }
        for name in CONTROLS
    ]


def burst() -> Quantity:
    """Time in which the one port could take all of it."""
    size = chosen(BURST, "B", label="bytes of a host's burst")
    return link_time(hosts() * size, NETWORK).named("the burst on one port").to("us")


def hosts() -> Quantity:
    """Hosts that send to one."""
    return chosen(INCAST, label="hosts that send at once")


@cache
def circle(control: str = "pause") -> FabricRun:
    """Three switches in a ring, each with a flow two switches on."""
    wires, paths = shapes.ring(3, _wire())
    flows = [Flow((path,), 1 << 17) for path in paths]
    return run_fabric(wires, flows, Rules(control=control, buffer=8192))


@counting("flows that never end")
def stuck() -> int:
    """Flows of the ring that never end."""
    return sum(end is None for end in circle().ended)


@counting(
    lambda slowed: f"share of a free port, {'slowed' if slowed else 'pauses alone'}"
)
def behind(*, slowed: bool) -> float:
    """Share of its own port that a flow has behind an incast."""
    wires, ways = shapes.behind(INCAST, _wire())
    flows = [Flow((way,), LONG, frame=4 * FRAME) for way in ways]
    of = Dcqcn().scaled(rate().si) if slowed else None
    run = run_fabric(wires, flows, Rules(control="pause", buffer=ROOM, dcqcn=of))
    goodput = LONG / (run.ended[0] or 0)
    return goodput / rate().si


# -- measured by others ----------------------------------------------------------------


def far() -> Quantity:
    """A write over three switches, one way, measured."""
    return quoted("zaratan.far")


def per_switch() -> Quantity:
    """What each of the two more switches took, with its cable."""
    return ((far() - rdma.one_hop()) / 2).named("a further switch, measured").to("ns")


def far_told() -> Quantity:
    """The same predicted from the way over one switch."""
    more = 2 * (latency("infiniband") + cable())
    return (rdma.one_hop() + more).named("write over three switches, told").to("us")


def cable_told() -> Quantity:
    """Cable that would explain the rest."""
    rest = per_switch() - latency("infiniband")
    return (rest / rdma.per_metre()).named("cable that explains it").to("m")
