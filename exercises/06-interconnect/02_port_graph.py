"""Wire a rack, and find its islands.

level: build

Suppose GPUs with links that end at switch chips. A wire is a pair `(gpu, chip)`; both
count from zero, and a pair may occur more than once. Bytes go from a GPU to a chip and
on to a GPU, and a GPU passes nothing on for others unless you are told so.

- `islands(gpus, wires)`: into how many sets the GPUs fall if bytes may pass through
  GPUs as well. A GPU without a wire is a set of its own; a chip without a GPU is none.
- `meeting(gpus, wires)`: the fewest chips at which two GPUs meet, over all pairs of two
  or more GPUs; zero if two of them meet nowhere.
- `wire(gpus, links, chips, ports)`: a list of wires in which every GPU has exactly
  `links`, no chip has more than `ports`, and any two GPUs meet at every chip. Suppose
  that there are no more chips than links of a GPU. ValueError if there are not
  enough ports in all.

hint: A flood fill finds the first; intersections of sets the second. For the third,
deal the links of all GPUs out to the chips in turn, like cards: no chip is then ahead
of another by more than one.
"""

from collections import Counter
from itertools import combinations

from stacklib.grading import expect

# ---- your answer ----


def islands(gpus, wires):
    """Sets of GPUs that wires hold together."""
    near = {gpu: set() for gpu in range(gpus)}
    far = {}
    for gpu, chip in wires:
        near[gpu].add(chip)
        far.setdefault(chip, set()).add(gpu)
    left, found = set(range(gpus)), 0
    while left:
        found += 1
        todo = [left.pop()]
        while todo:
            for chip in near[todo.pop()]:
                new = far[chip] & left
                left -= new
                todo += new
    return found


def meeting(gpus, wires):
    """The fewest chips at which two GPUs meet."""
    chips = [{chip for one, chip in wires if one == gpu} for gpu in range(gpus)]
    return min(len(a & b) for a, b in combinations(chips, 2))


def wire(gpus, links, chips, ports):
    """Every link to a port, every two GPUs at every chip."""
    if gpus * links > chips * ports:
        raise ValueError("too few ports")
    numbered = range(gpus * links)
    return [(number // links, number % chips) for number in numbered]


# ---- tests ----


def packed(gpus, links, ports):
    """All links of a GPU to one chip, while it has room."""
    return [(n // links, n // ports) for n in range(gpus * links)]


def turned(gpus, links, chips):
    """Each GPU begins one chip further and leaves others out."""
    return [(g, (g + n) % chips) for g in range(gpus) for n in range(links)]


WIRINGS = {
    "two GPUs, no wire": (2, []),
    "a chip between two": (2, [(0, 0), (1, 0)]),
    "a chain": (4, [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 2)]),
    "a chain, told backwards": (4, [(3, 0), (2, 0), (2, 2), (1, 2), (1, 1), (0, 1)]),
    "a GPU left out": (3, [(0, 0), (1, 0), (0, 0)]),
    "two pairs": (4, [(0, 5), (1, 5), (2, 9), (3, 9), (2, 9)]),
    "two wires to one chip": (2, [(0, 0), (0, 0), (1, 0), (1, 0)]),
    "the post's planes, small": (12, packed(12, 3, 9)),
    "the post's planes": (72, packed(72, 18, 144)),
    "chips in turns": (9, turned(9, 4, 6)),
    "every chip": (72, [(g, c) for g in range(72) for c in range(18)]),
}
CASES = [{"gpus": gpus, "wires": wires} for gpus, wires in WIRINGS.values()]


def joined(gpus, wires):
    """By names that spread: each GPU takes the least that it sees, until none does."""
    name = list(range(gpus))
    while True:
        at = {}
        for gpu, chip in wires:
            at[chip] = min(at.get(chip, gpus), name[gpu])
        new = list(name)
        for gpu, chip in wires:
            new[gpu] = min(new[gpu], at[chip])
        if new == name:
            return len(set(name))
        name = new


def by_first_chip(gpus, wires):
    first = {}
    for gpu, chip in wires:
        first.setdefault(gpu, chip)
    return len(set(first.values())) + gpus - len(first)


def wired_only(gpus, wires):
    return joined(gpus, wires) - (gpus - len({gpu for gpu, _ in wires}))


def at_chips(gpus, wires):
    held = [frozenset(c for g, c in wires if g == gpu) for gpu in range(gpus)]
    return min(len(one & other) for one, other in combinations(held, 2))


def by_wires(gpus, wires):
    held = [Counter(c for g, c in wires if g == gpu) for gpu in range(gpus)]
    return min((one & other).total() for one, other in combinations(held, 2))


def neighbours_only(gpus, wires):
    held = [frozenset(c for g, c in wires if g == gpu) for gpu in range(gpus)]
    return min(len(held[g] & held[g + 1]) for g in range(gpus - 1))


def test_islands():
    expect.function_matches(
        islands,
        joined,
        CASES,
        mistakes={
            "A GPU without a wire is a set of its own.": wired_only,
            "A GPU may hang on several chips; you looked at one of them.": (
                by_first_chip
            ),
        },
    )
    expect.reading("islands of the post's planes", islands(72, packed(72, 18, 144)))


def test_meeting():
    expect.function_matches(
        meeting,
        at_chips,
        [case for case in CASES if case["gpus"] > 1],
        mistakes={
            "Two wires to one chip are one chip at which they meet.": by_wires,
            "Every pair counts, not only neighbours.": neighbours_only,
        },
    )


RACKS = [
    {"gpus": 72, "links": 18, "chips": 18, "ports": 72},
    {"gpus": 72, "links": 18, "chips": 9, "ports": 144},
    {"gpus": 8, "links": 18, "chips": 4, "ports": 64},
    {"gpus": 8, "links": 18, "chips": 4, "ports": 36},
    {"gpus": 6, "links": 7, "chips": 3, "ports": 14},
    {"gpus": 1, "links": 2, "chips": 1, "ports": 2},
]


def checked(rack):
    """The wires of an answer, each a pair of numbers that there are."""
    made = [tuple(map(int, one)) for one in expect.call(wire, rack)]
    said = "{gpus} GPUs, {links} links, {chips} chips of {ports} ports".format(**rack)
    for gpu, chip in made:
        if not (0 <= gpu < rack["gpus"] and 0 <= chip < rack["chips"]):
            raise expect.Mistake(f"{said}: there is no wire ({gpu}, {chip})")
    each = Counter(gpu for gpu, _ in made)
    for gpu in range(rack["gpus"]):
        if each[gpu] != rack["links"]:
            raise expect.Mistake(f"{said}: GPU {gpu} has {each[gpu]} wires")
    return said, made


def test_wire_ports():
    for rack in RACKS:
        said, made = checked(rack)
        chip, most = Counter(chip for _, chip in made).most_common(1)[0]
        if most > rack["ports"]:
            raise expect.Mistake(
                f"{said}: chip {chip} has {most} wires. Ports suffice if those left "
                "over after every chip has its share go to different chips"
            )


def test_wire_joins():
    for rack in RACKS:
        said, made = checked(rack)
        if rack["gpus"] == 1:
            continue
        found, met = joined(rack["gpus"], made), at_chips(rack["gpus"], made)
        if found > 1:
            raise expect.Mistake(
                f"{said}: {found} islands. Ports add up, but all links of a GPU end "
                "at the same few chips"
            )
        if met < rack["chips"]:
            raise expect.Mistake(f"{said}: two GPUs meet at {met} chips, not at all")


def test_wire_refuses():
    expect.refuses(
        wire,
        {"gpus": 72, "links": 18, "chips": 18, "ports": 64},
        because="there are 1,296 links and 1,152 ports",
    )
