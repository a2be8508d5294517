"""Drawing of section 6.5: a message's way through two processes' sockets."""

from stacklib.pages.interconnect import wires as page
from stacklib.plots.drawing import Box, Drawing, Node, Shown, below, draw, flow, line
from stacklib.plots.drawing.marks import then

__all__ = ["way_of_a_message"]

PROCESS, KERNEL = "layer-5", "layer-4"
DOWN = (True, True)


def way_of_a_message() -> Drawing:
    """From an array of one process to an array of another, copy by copy."""
    sender = _column(
        "sending process",
        [
            ("chunk", "cut from the array"),
            ("gloo, sending", "a thread, with a queue"),
            ("send()", "a system call: copied"),
        ],
        PROCESS,
    )
    kernel = _column(
        "kernel",
        [
            ("socket buffer", "waits for room"),
            ("TCP and IP", "cut into packets"),
            ("receive buffer", "waits to be read"),
        ],
        KERNEL,
    )
    receiver = _column(
        "receiving process",
        [
            ("epoll", "wakes the thread: lit"),
            ("recv()", "a system call: copied"),
            ("sum", "added to its own chunk"),
        ],
        PROCESS,
        lit="epoll",
    )
    told = page.alpha()
    foot = Box(
        "a step",
        [
            line("one step of four processes: ", Shown(told, "µs"), bold=True),
            line("before the first byte counts"),
        ],
        role="muted",
    )
    scene = below(
        flow(
            sender,
            then("sending process", "kernel"),
            kernel,
            then("kernel", "receiving process"),
            receiver,
            gap=4,
        ),
        foot,
        gap=8,
    )
    title = "A message is copied into the kernel and out, and a sleeper has to wake."
    return draw(scene, name="wires-way", title=title)


def _column(name: str, stops: list[tuple[str, str]], role: str, lit: str = "") -> Node:
    parts: list[Node] = []
    for at, (what, does) in enumerate(stops):
        if at:
            parts.append(then(stops[at - 1][0], what, down=DOWN))
        words = [line(what, bold=True), line(does.replace(": lit", ""))]
        parts.append(Box(what, words, role=role, lit=what == lit))
    return Box(name, [line(name, bold=True)], below(*parts, gap=2), role=role)
