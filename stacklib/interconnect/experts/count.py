"""How many copies of a token move, and where: counted from a routing, and expected.

Three ways of sending: a copy for every expert (DeepEP's low-latency kernels), one for
every rank that holds any, or one for every node, from which it is handed on over NVLink
(DeepEP's normal kernels). Ranks hold experts in blocks, nodes hold ranks in blocks. For
a router that prefers no expert the expectation is closed:

    expert  k copies, of which 1 / R stay and (L - 1) / R keep to the node
    rank    R (1 - C(E - E/R, k) / C(E, k)) copies
    node    sum of min(M, d) P(d nodes among k experts) copies

for k of E experts over R ranks, L a node, of at most M nodes. With M below the nodes
there are, ranks are counted as if the k were drawn alike from M nodes: near, not exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from stacklib.quantity.bounds import whole

from .route import Routing

ONCE = ("expert", "rank", "node")


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of one token, a mean: those that stay, cross NVLink, cross the network."""

    own: float
    nvlink: float
    network: float
    nodes: float  # that it goes to, its own among them

    @property
    def all(self) -> float:
        """Every move of a copy; by node, handing on is a move of its own."""
        return self.own + self.nvlink + self.network


def expect(
    *,
    experts: int,
    top_k: int,
    ranks: int,
    ranks_per_node: int,
    once: str = "expert",
    top_nodes: int | None = None,
) -> Copies:
    """Mean copies of a token under a router that prefers no expert."""
    local, nodes = _checked(experts, ranks, ranks_per_node)
    most = nodes if top_nodes is None else min(top_nodes, nodes)
    whole(top_nodes=most, top_k=top_k)
    if top_k > experts // nodes * most:
        raise ValueError(f"top_k = {top_k}: {most} nodes hold fewer experts")
    touched = sum(
        min(most, d) * p for d, p in enumerate(groups_hit(experts, top_k, nodes))
    )
    if once == "expert":
        share = top_k / ranks
        return Copies(share, share * (local - 1), share * (ranks - local), touched)
    within = experts // nodes * most
    hit = _hit(within, top_k, experts // ranks) * local * most
    if once == "rank":
        share = hit / ranks
        return Copies(share, share * (local - 1), share * (ranks - local), touched)
    outside = touched * (nodes - 1) / nodes
    # Whoever a token arrives at in a node knows nothing of whom it is for.
    return Copies(hit / local, hit * (local - 1) / local, outside, touched)


def _hit(experts: int, top_k: int, held: int) -> float:
    """Chance that a holder of ``held`` experts is among those of a token."""
    return 1 - comb(experts - held, top_k) / comb(experts, top_k)


def groups_hit(experts: int, top_k: int, groups: int) -> list[float]:
    """Chance of each number of groups among ``top_k`` experts drawn alike."""
    size, ways = experts // groups, comb(experts, top_k)
    found = [0.0] * (groups + 1)
    for hit in range(1, min(groups, top_k) + 1):
        onto = sum(
            (-1) ** (hit - j) * comb(hit, j) * comb(j * size, top_k)
            for j in range(1, hit + 1)
        )
        found[hit] = comb(groups, hit) * onto / ways
    return found


@dataclass(frozen=True, slots=True)
class Counted:
    """What a routing moves: mean copies of a token, and what each rank receives."""

    copies: Copies
    received: tuple[int, ...]  # copies that end at a rank, by rank

    @property
    def imbalance(self) -> float:
        """What the busiest rank receives over the mean."""
        return max(self.received) * len(self.received) / sum(self.received)


def count(
    routing: Routing, *, ranks: int, ranks_per_node: int, once: str = "expert"
) -> Counted:
    """Count the copies of a routing whose tokens lie on the ranks in turn.

    - token ``t`` starts at rank ``t % ranks``.
    """
    local, _ = _checked(routing.experts, ranks, ranks_per_node)
    held = routing.experts // ranks
    own = near = far = touched = 0
    received = [0] * ranks
    for token, experts in enumerate(routing.chosen):
        source = token % ranks
        targets = [expert // held for expert in experts]
        touched += len({t // local for t in targets})
        if once != "expert":
            targets = sorted(set(targets))
        for target in targets:
            received[target] += 1
        if once == "node":
            # Over the network it comes to the rank with its source's place.
            stops = [(t // local * local + source % local, t) for t in targets]
            far += len({t // local for t in targets} - {source // local})
            near += sum(a != b for a, b in stops)
            own += sum(a == b for a, b in stops)
        else:
            same = [t for t in targets if t // local == source // local]
            own += same.count(source)
            near += len(same) - same.count(source)
            far += len(targets) - len(same)
    n = len(routing.chosen)
    return Counted(Copies(own / n, near / n, far / n, touched / n), tuple(received))


def _checked(experts: int, ranks: int, ranks_per_node: int) -> tuple[int, int]:
    """Ranks of a node, and nodes."""
    whole(experts=experts, ranks=ranks, ranks_per_node=ranks_per_node)
    local = min(ranks, ranks_per_node)
    if ranks % local:
        raise ValueError(f"ranks = {ranks} do not fill nodes of {local}")
    if experts % ranks:
        raise ValueError(f"experts = {experts} do not divide over ranks = {ranks}")
    return local, ranks // local
