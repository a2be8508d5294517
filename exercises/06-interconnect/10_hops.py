"""Where the microseconds of a message went.

level: derive

Suppose a message of `size` bytes, cut into frames of `frame` bytes (its size is a
multiple of that), that crosses `hops` switches in a row. Every port sends `rate` bytes
per second in each direction. A switch needs `latency` seconds for a frame's header, and
each of the `hops` + 1 cables delays by `cable` seconds. Give seconds:

- `cut_through(size, frame, hops, rate, latency, header, cable)`: switches begin to send
  a frame `latency` after they have read its first `header` bytes.
- `stored(size, frame, hops, rate, latency, header, cable)`: they begin `latency` after
  its last byte has come. The header needs no time of its own.
- `behind(load, size, rate)`: the mean wait before one port. Others' messages, each of
  `size` bytes, come at random and load the port for a share `load` of the time
  (Poisson arrivals, equal service: `load` x service / (2 (1 - `load`))).
- `why(seconds, size, frame, hops, rate, latency, header, cable)`: "queue" if even
  switches that store would have let the message arrive, suppose, 10 % sooner than in
  `seconds`;
  otherwise "stored" if it took longer than halfway between cut-through and stored;
  otherwise "cut".

hint: frames follow one another. While a switch sends the first frame, the second one
comes in, so that all frames but one cost their time on the wire only once.
"""

from stacklib.grading import expect

# ---- your answer ----


def cut_through(size, frame, hops, rate, latency, header, cable):
    """Seconds, if each switch forwards a frame's head."""
    return size / rate + hops * (latency + header / rate) + (hops + 1) * cable


def stored(size, frame, hops, rate, latency, header, cable):
    """Seconds, if each switch waits for a whole frame."""
    return size / rate + hops * (latency + frame / rate) + (hops + 1) * cable


def behind(load, size, rate):
    """Mean seconds of waiting before a port."""
    return load * size / rate / (2 * (1 - load))


def why(seconds, size, frame, hops, rate, latency, header, cable):
    """What a measured time shows."""
    given = (size, frame, hops, rate, latency, header, cable)
    early, late = cut_through(*given), stored(*given)
    if late < 0.9 * seconds:
        return "queue"
    return "stored" if seconds > (early + late) / 2 else "cut"


# ---- tests ----

NAMES = ("size", "frame", "hops", "rate", "latency", "header", "cable")
CASES = [
    dict(zip(NAMES, values, strict=True))
    for values in (
        (16_384, 4096, 3, 50e9, 100e-9, 64, 50e-9),
        (16_384, 4096, 3, 50e9, 500e-9, 64, 50e-9),
        (4096, 4096, 1, 50e9, 500e-9, 64, 0.0),
        (1500, 1500, 2, 125e6, 3e-6, 64, 25e-9),
        (1 << 20, 8192, 5, 100e9, 250e-9, 128, 1.5e-6),
        (512, 512, 4, 12.5e9, 0.0, 64, 5e-9),
    )
]


def walk(size, frame, hops, rate, latency, header, cable, stores):
    """Frame by frame: when each port is free, when each frame is known there."""
    free, last = [0.0] * (hops + 1), 0.0
    for _ in range(size // frame):
        ready = 0.0
        for port in range(hops + 1):
            begin = max(ready, free[port])
            free[port] = begin + frame / rate
            known = frame if stores else header
            ready = begin + cable + known / rate + latency
            last = begin + frame / rate + cable
    return last


def right(stores):
    return lambda **case: walk(**case, stores=stores)


def test_cut_through():
    expect.function_matches(
        cut_through,
        right(False),
        CASES,
        unit="s",
        mistakes={
            "A message of n hops has n + 1 cables: one from the sender, too.": (
                lambda size, frame, hops, rate, latency, header, cable: (
                    size / rate + hops * (latency + header / rate + cable)
                )
            ),
            "A switch has to read the header before it can forward the head.": (
                lambda size, frame, hops, rate, latency, header, cable: (
                    size / rate + hops * latency + (hops + 1) * cable
                )
            ),
            "The whole message is put on the wire only once if heads are forwarded.": (
                lambda size, frame, hops, rate, latency, header, cable: (
                    (hops + 1) * (size / rate + cable) + hops * latency
                )
            ),
        },
    )


def test_stored():
    expect.function_matches(
        stored,
        right(True),
        CASES,
        unit="s",
        mistakes={
            "A switch stores a frame, not the message: while it sends the first "
            "frame, the second one comes in.": (
                lambda size, frame, hops, rate, latency, header, cable: (
                    (hops + 1) * (size / rate + cable) + hops * latency
                )
            ),
            "The first wire carries the frame, too: a frame is sent hops + 1 times.": (
                lambda size, frame, hops, rate, latency, header, cable: (
                    (size - frame) / rate
                    + hops * (latency + frame / rate)
                    + (hops + 1) * cable
                )
            ),
            "The header is part of the frame that is stored; it costs nothing more.": (
                lambda size, frame, hops, rate, latency, header, cable: (
                    size / rate
                    + hops * (latency + (frame + header) / rate)
                    + (hops + 1) * cable
                )
            ),
        },
    )
    more = stored(**CASES[1]) - walk(**CASES[1], stores=False)
    expect.reading("added by storing, three switches", 1e9 * more, "ns")


def test_behind():
    expect.function_matches(
        behind,
        lambda load, size, rate: size / rate * load / 2 / (1 - load),
        [
            {"load": load, "size": size, "rate": 50e9}
            for load in (0.0, 0.3, 0.5, 0.9, 0.99)
            for size in (4096, 16_384)
        ],
        unit="s",
        mistakes={
            "That is for messages of random lengths; equal ones wait half as long.": (
                lambda load, size, rate: size / rate * load / (1 - load)
            ),
            "That is the wait and the message itself: the wait alone is asked.": (
                lambda load, size, rate: size / rate * (1 + load / 2 / (1 - load))
            ),
        },
    )


def test_why():
    for case in CASES:
        early, late = right(False)(**case), right(True)(**case)
        for seconds, what in (
            (early, "cut"),
            (0.75 * early + 0.25 * late, "cut"),
            (0.25 * early + 0.75 * late, "stored"),
            (late, "stored"),
            (1.08 * late, "stored"),
            (1.2 * late, "queue"),
            (5 * late, "queue"),
        ):
            mine = expect.call(why, {"seconds": seconds, **case})
            if mine != what:
                raise expect.Mistake(
                    f"{seconds:.3g} s, where cut-through takes {early:.3g} s and "
                    f"storing {late:.3g} s: {mine!r} instead of {what!r}"
                )
