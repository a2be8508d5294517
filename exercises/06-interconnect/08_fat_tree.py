"""Size a network.

level: derive

Suppose that every switch has `radix` ports (an even number), each GPU has one port, and
the network is a fat tree that blocks nothing: at every level but the top, a switch has
as many ports up as down; at the top all ports lead down. A tree of one level is one
switch.

- `room(radix, levels)`: GPUs under a full tree.
- `levels_for(gpus, radix)`: the fewest levels for so many GPUs.
- `switches(gpus, radix)`: switches for so many GPUs. Suppose that the GPUs fill all
  ports of the switches that are there, so that nothing is left over or rounded.
- `price(gpus, radix, switch, cable)`: USD of the network **for each GPU**. `switch` is
  the price of a switch, `cable` of a cable with what is plugged in at both ends; the
  cables of the GPUs count.

hint: Follow one GPU's share upwards: at each level below the top it takes one port that
faces down and one that faces up. A tree of two levels of 4 ports has 8 GPUs.
"""

from stacklib.grading import expect

# ---- your answer ----


def room(radix, levels):
    """GPUs under a full tree."""
    return 2 * (radix // 2) ** levels


def levels_for(gpus, radix):
    """The fewest levels."""
    levels = 1
    while room(radix, levels) < gpus:
        levels += 1
    return levels


def switches(gpus, radix):
    """Switches of the tree."""
    return (2 * levels_for(gpus, radix) - 1) * gpus // radix


def price(gpus, radix, switch, cable):
    """USD for each GPU."""
    return switches(gpus, radix) * switch / gpus + levels_for(gpus, radix) * cable


# ---- tests ----

SIZES = [(4, 1), (4, 2), (4, 3), (8, 2), (16, 3), (64, 1), (64, 2), (64, 3), (144, 3)]
FULL = [(4, 4), (8, 4), (16, 4), (64, 64), (2048, 64), (65_536, 64), (128, 8)]
PART = [(16_384, 64), (4096, 64), (131_072, 64), (512, 16)]


def grown(radix, levels):
    """Level by level: leaves under the switches above, the top without ports up."""
    hosts = radix
    for _ in range(levels - 1):
        hosts = hosts // radix * radix * (radix // 2)
    return hosts


def deep(gpus, radix):
    levels = 1
    while grown(radix, levels) < gpus:
        levels += 1
    return levels


def all_switches(gpus, radix, levels=None):
    """Level by level, from the ports that each takes."""
    high = deep(gpus, radix) if levels is None else levels
    below_top = (high - 1) * gpus // (radix // 2)
    return below_top + gpus // radix


def per_gpu(gpus, radix, switch, cable, levels=None):
    high = deep(gpus, radix) if levels is None else levels
    return all_switches(gpus, radix, high) * switch / gpus + high * cable


def test_room():
    expect.function_matches(
        room,
        grown,
        [{"radix": radix, "levels": levels} for radix, levels in SIZES],
        rel=1e-9,
        mistakes={
            "Below the top only half of a switch's ports lead down.": (
                lambda radix, levels: radix**levels
            ),
            "At the top no port leads up: all of them lead down.": (
                lambda radix, levels: (radix // 2) ** levels
            ),
        },
    )


def test_levels_for():
    cases = [(64, 64), (65, 64), (2048, 64), (2049, 64), (65_536, 64), (65_537, 64)]
    expect.function_matches(
        levels_for,
        deep,
        [{"gpus": gpus, "radix": radix} for gpus, radix in [*cases, (16, 4), (17, 4)]],
        rel=1e-9,
        mistakes={
            "A tree that is exactly full needs no further level.": (
                lambda gpus, radix: deep(gpus + 1, radix)
            ),
            "One level is one switch: count from one.": (
                lambda gpus, radix: deep(gpus, radix) - 1
            ),
        },
    )


def test_switches():
    expect.function_matches(
        switches,
        all_switches,
        [{"gpus": gpus, "radix": radix} for gpus, radix in FULL + PART],
        rel=1e-9,
        mistakes={
            "You stay at two levels; look how many GPUs they hold.": (
                lambda gpus, radix: all_switches(gpus, radix, 2)
            ),
            "You stay at three levels; look how many GPUs they hold, and whether "
            "fewer would do.": lambda gpus, radix: all_switches(gpus, radix, 3),
            "The top has no ports up, so it takes half as many switches as a level "
            "below it.": (lambda gpus, radix: deep(gpus, radix) * gpus // (radix // 2)),
            "A level below the top has ports up as well: it takes twice as many "
            "switches.": lambda gpus, radix: deep(gpus, radix) * gpus // radix,
        },
    )
    for gpus in (16_384, 65_536):
        expect.reading(f"switches for {gpus} GPUs", expect.whole(switches(gpus, 64)))


def test_price():
    given = {"switch": 36_000, "cable": 1280}
    expect.function_matches(
        price,
        per_gpu,
        [{"gpus": gpus, "radix": radix, **given} for gpus, radix in FULL + PART],
        unit="USD",
        rel=1e-9,
        mistakes={
            "That is the whole network; divide by its GPUs.": (
                lambda gpus, **case: gpus * per_gpu(gpus, **case)
            ),
            "A cable's price has both ends in it: count each cable once.": (
                lambda gpus, radix, switch, cable: per_gpu(
                    gpus, radix, switch, 2 * cable
                )
            ),
            "The GPUs' own cables count: as many cables as levels.": (
                lambda gpus, radix, switch, cable: (
                    per_gpu(gpus, radix, switch, cable) - cable
                )
            ),
        },
    )
