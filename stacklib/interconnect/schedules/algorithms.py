"""Collectives by algorithm: which there are, and their schedules.

A schedule knows no size, only chunks: what it costs is for ``cost`` to say, whether it
is right for ``verify``.
"""

from __future__ import annotations

from stacklib.interconnect.schedules import algorithms_halving as halving
from stacklib.interconnect.schedules import algorithms_nodes as nodes
from stacklib.interconnect.schedules import algorithms_ring as ring
from stacklib.interconnect.schedules import algorithms_switch as switch
from stacklib.interconnect.schedules import algorithms_tree as tree
from stacklib.interconnect.schedules.compose import Ask, Builder, Built, schedule_of
from stacklib.interconnect.schedules.schedule import Schedule
from stacklib.quantity import resolve
from stacklib.quantity.bounds import whole


def _switches(collective: str) -> dict[str, Builder]:
    return {
        "in_switch": switch.switched(collective, switch.one_switch),
        "collnet": switch.switched(collective, switch.two_levels),
    }


KNOWN: dict[str, dict[str, Builder]] = {
    "all_reduce": {
        "ring": ring.ring_all_reduce,
        "tree": tree.tree_all_reduce,
        "double_binary_tree": tree.two_tree_all_reduce,
        "halving_doubling": halving.halving_doubling_all_reduce,
        "direct": ring.direct_all_reduce,
        "bruck": ring.bruck_all_reduce,
        "hierarchical": nodes.hierarchical_all_reduce,
        **_switches("all_reduce"),
    },
    "reduce_scatter": {
        "ring": ring.ring_reduce_scatter,
        "halving_doubling": halving.halving_doubling_reduce_scatter,
        "direct": ring.direct_reduce_scatter,
        "bruck": ring.bruck_reduce_scatter,
        "hierarchical": nodes.hierarchical_reduce_scatter,
        **_switches("reduce_scatter"),
    },
    "all_gather": {
        "ring": ring.ring_all_gather,
        "halving_doubling": halving.halving_doubling_all_gather,
        "direct": ring.direct_all_gather,
        "bruck": ring.bruck_all_gather,
        "hierarchical": nodes.hierarchical_all_gather,
        **_switches("all_gather"),
    },
    "all_to_all": {
        "ring": ring.ring_all_to_all,
        "direct": ring.direct_all_to_all,
        "bruck": ring.bruck_all_to_all,
        "hierarchical": nodes.hierarchical_all_to_all,
    },
    "broadcast": {
        "ring": ring.ring_broadcast,
        "tree": tree.tree_broadcast,
        "double_binary_tree": tree.two_tree_broadcast,
        "halving_doubling": halving.halving_doubling_broadcast,
        "direct": ring.direct_broadcast,
        "hierarchical": nodes.hierarchical_broadcast,
        **_switches("broadcast"),
    },
}
GROUPED = ("hierarchical", "collnet")  # that know nodes
PIPELINED = {  # whose chunks are chosen: pieces that follow one another
    "all_reduce": ("tree", "double_binary_tree", "in_switch", "collnet"),
    "broadcast": ("ring", "tree", "double_binary_tree", "in_switch", "collnet"),
}


def _make(collective: str, algorithm: str, ask: Ask) -> Schedule:
    """Look an algorithm up and build it; one rank has nothing to send."""
    whole(ranks=ask.ranks)
    whole(0, root=ask.root)
    if ask.root >= ask.ranks:
        raise ValueError(
            f"root = {ask.root}: ranks are 0 to {ask.ranks - 1}; name one of them"
        )
    known = KNOWN[collective]
    name = resolve(algorithm, known, f"algorithm of {collective}")
    if ask.group is not None:
        whole(group=ask.group)
        if name not in GROUPED:
            raise ValueError(
                f"group = {ask.group}: {name} knows no nodes, only"
                f" {' and '.join(GROUPED)} do; leave it out"
            )
    if ask.chunks is not None:
        whole(chunks=ask.chunks)
        pipelined = PIPELINED.get(collective, ())
        if name not in pipelined:
            raise ValueError(
                f"chunks = {ask.chunks}: {collective} by {name} cuts the array by its"
                f" ranks; leave it out, or take {', '.join(pipelined) or 'none'}"
            )
    built = known[name](ask) if ask.ranks > 1 else Built(1, [])
    return schedule_of(collective, name, ask, built)


def all_reduce(
    ranks: int,
    algorithm: str = "ring",
    *,
    chunks: int | None = None,
    group: int | None = None,
) -> Schedule:
    """Schedule after which every rank holds the sum of all arrays.

    Parameters
    ----------
    ranks : int
        Ranks that take part.
    algorithm : str
        ring, tree, double_binary_tree, halving_doubling, direct, bruck, hierarchical,
        in_switch or collnet.
    chunks : int, optional
        Pieces that follow one another through a tree or a switch; 1, or one for each
        of two trees, where nothing is said. The others cut by their ranks.
    group : int, optional
        Ranks of a node for hierarchical, of a first switch for collnet.

    Raises
    ------
    ValueError
        For no rank, or chunks or a group that the algorithm has no use for.
    UnknownName
        For an algorithm that is not known.

    Examples
    --------
    >>> made = all_reduce(4)
    >>> made.steps, made.chunks, made.sends[0]
    (6, 4, Send(step=0, source=0, destination=1, chunk=3, reduce=True))
    >>> all_reduce(512, "bruck").steps
    18
    """
    return _make("all_reduce", algorithm, Ask(ranks, chunks, group))


def reduce_scatter(
    ranks: int, algorithm: str = "ring", *, group: int | None = None
) -> Schedule:
    """Schedule after which rank ``r`` holds part ``r`` of the sum of all arrays.

    Parameters
    ----------
    ranks : int
        Ranks that take part, and parts of each array.
    algorithm : str
        ring, halving_doubling, direct, bruck, hierarchical, in_switch or collnet.
    group : int, optional
        Ranks of a node for hierarchical, of a first switch for collnet.

    Raises
    ------
    ValueError
        For no rank, or a group that the algorithm has no use for.
    UnknownName
        For an algorithm that is not known.

    Examples
    --------
    >>> reduce_scatter(8, "halving_doubling").steps
    3
    """
    return _make("reduce_scatter", algorithm, Ask(ranks, group=group))


def all_gather(
    ranks: int, algorithm: str = "ring", *, group: int | None = None
) -> Schedule:
    """Schedule after which every rank holds the parts of all.

    Parameters
    ----------
    ranks : int
        Ranks that take part, and parts of the gathered array.
    algorithm : str
        ring, halving_doubling, direct, bruck, hierarchical, in_switch or collnet.
    group : int, optional
        Ranks of a node for hierarchical, of a first switch for collnet.

    Raises
    ------
    ValueError
        For no rank, or a group that the algorithm has no use for.
    UnknownName
        For an algorithm that is not known.

    Examples
    --------
    >>> all_gather(9, "bruck").steps
    4
    """
    return _make("all_gather", algorithm, Ask(ranks, group=group))


def all_to_all(
    ranks: int, algorithm: str = "ring", *, group: int | None = None
) -> Schedule:
    """Schedule after which each rank holds what all others had for it.

    Parameters
    ----------
    ranks : int
        Ranks that take part; chunk ``source * ranks + destination`` goes from one to
        the other.
    algorithm : str
        ring, direct, bruck or hierarchical.
    group : int, optional
        Ranks of a node for hierarchical.

    Raises
    ------
    ValueError
        For no rank, or a group that the algorithm has no use for.
    UnknownName
        For an algorithm that is not known.

    Examples
    --------
    >>> all_to_all(16, "hierarchical", group=8).steps
    2
    """
    return _make("all_to_all", algorithm, Ask(ranks, group=group))


def broadcast(
    ranks: int,
    algorithm: str = "ring",
    *,
    root: int = 0,
    chunks: int | None = None,
    group: int | None = None,
) -> Schedule:
    """Schedule after which every rank holds the root's array.

    Parameters
    ----------
    ranks : int
        Ranks that take part.
    algorithm : str
        ring, tree, double_binary_tree, halving_doubling, direct, hierarchical,
        in_switch or collnet.
    root : int
        The rank whose array it is.
    chunks : int, optional
        Pieces that follow one another through a ring, a tree or a switch.
    group : int, optional
        Ranks of a node for hierarchical, of a first switch for collnet.

    Raises
    ------
    ValueError
        For no rank, a root that is none of them, or chunks or a group that the
        algorithm has no use for.
    UnknownName
        For an algorithm that is not known.

    Examples
    --------
    >>> broadcast(8, "tree", root=3).steps
    3
    """
    return _make("broadcast", algorithm, Ask(ranks, chunks, group, root))
