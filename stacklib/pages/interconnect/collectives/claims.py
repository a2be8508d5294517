"""Claims on rings, trees, sums in the switch and hierarchies."""

from stacklib.evidence import Finding, claim
from stacklib.interconnect.schedules.algorithms import all_reduce, reduce_scatter
from stacklib.interconnect.schedules.cost import count, least_share
from stacklib.interconnect.schedules.verify import verify
from stacklib.pages.interconnect import collectives as page
from stacklib.quantity import Quantity, chosen, counted
from stacklib.roofline.work.moving import link_time

NODE, NODES = 8, 4
RADIX = 32  # ports down of a switch of sixty-four, half of them up


def sent(ranks: int, collective: str = "all_reduce") -> float:
    """Sends of one chip in a proved ring, over the others that there are."""
    ring = {"all_reduce": all_reduce, "reduce_scatter": reduce_scatter}[collective](
        ranks
    )
    assert verify(ring).holds
    mine = {send.step for send in ring.sends if send.source == 0}
    return len(mine) / (ranks - 1)


@claim("ring-allreduce-steps")
def ring_steps() -> Finding:
    """Counted from the ring of a rack."""
    label = "sends of a chip for each other chip, ring"
    return Finding(
        counted(sent, page.RACK, label=label),
        why="A ring goes round twice: once to sum each part, once to spread it.",
    )


def levels(ranks: int, radix: int) -> int:
    """Levels of switches above so many chips, each with so many ports down."""
    found = 0
    while ranks > 1:
        ranks, found = -(-ranks // radix), found + 1
    return found


@claim("sharp-latency-log")
def logarithm() -> Finding:
    """Not a number: levels of switches by division, and the bytes apart from them."""
    chips = (10_000, RADIX * RADIX)
    many, few = (levels(n, RADIX) for n in chips)
    hops = all_reduce(2 * NODE, "collnet", group=NODE).steps
    return Finding.true(
        "Source: R. L. Graham and others, Scalable hierarchical aggregation protocol, "
        f"2016. By our count {chips[0]:,} chips need {many} levels of switches with "
        f"{RADIX} ports down and {chips[1]:,} need {few}; the schedule through two "
        f"levels takes {hops} hops. What the sum saves in bytes is apart from that and "
        f"at most {page.gain(page.RACK).si:.3g} times on {page.RACK} chips."
    )


@claim("ring-vs-tree")
def ring_or_tree() -> Finding:
    """Not a number: the size at which they cross is."""
    at = [page.crossing(ranks=n).text("MB") for n in (page.TP, page.RACK)]
    direct = page.time("direct").text("µs")
    return Finding.true(
        computed=page.crossing(ranks=page.TP),
        why=f"By our count the ring passes two trees at {at[0]} on {page.TP} chips and "
        f"{at[1]} on {page.RACK}: right on both sides. But "
        f"behind a switch neither is best: all at once takes {direct} for a token's "
        "exchange and moves no more than a ring.",
    )


def ring_share(ranks: int) -> float:
    """Arrays that the busiest chip of a ring sends, counted from its steps."""
    found = count(all_reduce(ranks)).share
    assert found == least_share("all_reduce", ranks)
    return float(found)


@claim("ring-2n-1-n")
def ring_bytes() -> Finding:
    """Counted send by send, and the least that any schedule moves."""
    rack = counted(ring_share, page.RACK, label="arrays a chip sends, ring of a rack")
    return Finding.true(
        computed=counted(
            ring_share, page.TP, label="arrays a chip sends, ring of eight"
        ),
        why=f"On {page.RACK} chips {rack.si:.3g}.",
    )


def tree_hops(ranks: int) -> int:
    """Steps from the root of a binary tree to its last leaf."""
    return all_reduce(ranks, "tree").steps // 2


@claim("tree-logn")
def tree_levels() -> Finding:
    """A tree has whole levels."""
    return Finding.true(
        computed=counted(tree_hops, page.RACK, label="hops down a tree of a rack"),
        why="One way; a sum goes up and the result comes down. Levels are whole: the "
        "logarithm, cut off.",
    )


def across(ranks: int, nodes: int, algorithm: str) -> float:
    """Arrays that the busiest chip sends to other nodes."""
    node = ranks // nodes
    group = node if algorithm == "hierarchical" else None
    made = all_reduce(ranks, algorithm, group=group)
    sent: dict[int, int] = {}
    for send in made.sends:
        if send.source // node != send.destination // node:
            sent[send.source] = sent.get(send.source, 0) + 1
    return max(sent.values()) / made.chunks


@claim("hierarchical-allreduce")
def fewer_bytes() -> Finding:
    """The whole array around four nodes, against an eighth of it from each chip."""
    flat = counted(across, NODES, NODES, "ring", label="arrays around four nodes")
    eighth = counted(
        across, NODE * NODES, NODES, "hierarchical", label="the same by eight chips"
    )
    return Finding.true(
        computed=flat / eighth,
        why="A node's port carries an eighth because each of eight chips has one. "
        "Eight flat rings, each through another port, would share alike.",
    )


def cross_time(array: Quantity, hierarchical: bool) -> Quantity:
    """Bytes alone, many nodes: everything over the port, or an eighth of it."""
    twice, chips = chosen(2, label="there and back"), chosen(NODE, label="chips a node")
    if not hierarchical:
        return link_time(twice * array, "ib_ndr")
    others = chips - chosen(1, label="the chip itself")
    inside = link_time(twice * array * (others / chips), page.LINK)
    return inside + link_time(twice * array / chips, "ib_ndr")


@claim("hierarchical-18x-reason")
def faster() -> Finding:
    """At the links' own rates in one direction."""
    array = chosen(1e9, "B", label="a gigabyte")
    flat, split = cross_time(array, False), cross_time(array, True)
    return Finding.depends(
        "a flat ring leaves a node by one port",
        f"Then it takes {flat.text('ms')}, and {split.text('ms')} in three parts. Flat "
        f"rings through the ports of {NODE} chips take {(flat / NODE).text('ms')}.",
        computed=flat / split,
    )
