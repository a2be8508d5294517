"""The drawing of section 6.7: two servers on rails, and switches over the rails."""

from stacklib.pages.interconnect import fabrics as page
from stacklib.plots import drawing as d
from stacklib.quantity import Quantity, chosen

__all__ = ["rails"]

GPU, SWITCH, TOP, LINK = "layer-3", "layer-5", "layer-6", "layer-2"
GPUS, SPINES, ONE, OTHER = 8, 4, 2, 5  # the rails of the two GPUs that talk
WAYS: dict[str, dict[str, frozenset[int]]] = {
    "same place": {
        "A": frozenset({ONE}),
        "rails": frozenset({ONE}),
        "B": frozenset({ONE}),
    },
    "another place": {
        "A": frozenset({ONE}),
        "rails": frozenset({ONE, OTHER}),
        "spines": frozenset({1}),
        "B": frozenset({OTHER}),
    },
    "another place, by NVLink": {
        "A": frozenset({ONE, OTHER}),
        "A inside": frozenset({0}),
        "rails": frozenset({OTHER}),
        "B": frozenset({OTHER}),
    },
}
FOOT = {
    "same place": "one switch, however full the rest of the network is",
    "another place": "up and down: three switches",
    "another place, by NVLink": "across inside the server, then one switch",
}


def rails() -> d.Drawing:
    """What is lit carries a message between two GPUs of two servers."""
    steps = [(words, _network(words)) for words in WAYS]
    title = "A GPU meets its own place of every other server at one switch."
    return d.draw(steps, name="fabrics-rails", title=title)


def _network(words: str) -> d.Node:
    lit = WAYS[words]
    eight = chosen(GPUS, label="ports of a server")
    server = (page.port() * eight).named("up from a server")
    both = (server * chosen(2, label="servers drawn")).named("up from the rails")
    return d.below(
        d.Box(
            "spines",
            [d.line("switches over the rails", bold=True)],
            _cells("spine switches", SPINES, TOP, lit.get("spines", frozenset())),
            role=TOP,
        ),
        d.Pipe(
            "rails",
            "spines",
            both,
            both,
            [d.line("as much again: ", d.Shown(both, "GB/s"))],
            both=True,
            down=(True, True),
            role=LINK,
            least=46.0,
        ),
        d.Box(
            "rails",
            [d.line("rails, a switch for each place", bold=True)],
            _cells("rail switches", GPUS, SWITCH, lit["rails"]),
            role=SWITCH,
        ),
        d.right_of(_up("A", server, both), _up("B", server, both), even=True),
        d.right_of(_server("A", lit), _server("B", lit), even=True),
        d.Words([d.line(FOOT[words], bold=True), d.line("rates: in one direction")]),
        gap=3,
    )


def _cells(name: str, count: int, role: str, lit: frozenset[int]) -> d.Cells:
    return d.Cells(name, count, side=(14.0, 12.0), gap=3.0, role=role, lit=lit)


def _up(name: str, rate: Quantity, full: Quantity) -> d.Pipe:
    told = [d.line(d.Shown(rate, "GB/s"))]
    return d.Pipe(
        f"server {name}",
        "rails",
        rate,
        full,
        told,
        both=True,
        down=(True, True),
        role=LINK,
        least=38.0,
    )


def _server(name: str, lit: dict[str, frozenset[int]]) -> d.Box:
    gpus = _cells(f"GPUs of {name}", GPUS, GPU, lit[name])
    inside = d.Box(
        f"NVSwitch of {name}",
        "NVSwitch",
        role=SWITCH,
        lit=f"{name} inside" in lit,
    )
    told = [d.line(f"server {name}", bold=True)]
    return d.Box(f"server {name}", told, d.below(gpus, inside, gap=4), role="layer-1")
