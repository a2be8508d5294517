"""Fit the layout.

level: build

Suppose a model of equal layers, no embedding, trained in mixed precision. In bytes a
parameter, weights take 2, gradients take 4 and the optimizer's state takes 12.
Tensor parallelism (`tp` ways) and the pipeline (`pp` stages) cut all three. ZeRO cuts
over the `dp` chips of data parallelism besides: level 1 the optimizer state, level 2
the gradients too, level 3 the weights too.

- `states(parameters, tp, pp, dp, zero)`: bytes of all states on one chip.
- `ways(chips, layers, heads)`: every `(tp, pp, dp)` that fills the chips and divides:
  tp the heads, pp the layers. In any order, each once.
- `lightest(parameters, chips, layers, heads, room, zero)`: of those whose states are
  at most `room` bytes, the one with the smallest tp, and of these the one with the
  smallest pp; `None` where none fits.

hint: Write 2, 4 and 12 beside each other and strike through, level by level, what is
divided once more. For the last two, try divisors in an order in which the first that
works is the answer.
"""

from stacklib.grading import expect

# ---- your answer ----


def states(parameters, tp, pp, dp, zero):
    """Bytes of weights, gradients and optimizer state on one chip."""
    mine = parameters / (tp * pp)
    weights = 2 / (dp if zero >= 3 else 1)
    gradients = 4 / (dp if zero >= 2 else 1)
    optimizer = 12 / (dp if zero >= 1 else 1)
    return mine * (weights + gradients + optimizer)


def ways(chips, layers, heads):
    """Every (tp, pp, dp) that fills the chips, tp dividing heads and pp layers."""
    found = []
    for tp in range(1, chips + 1):
        for pp in range(1, chips // tp + 1):
            if chips % (tp * pp) == 0 and heads % tp == 0 and layers % pp == 0:
                found.append((tp, pp, chips // (tp * pp)))
    return found


def lightest(parameters, chips, layers, heads, room, zero):
    """The layout with the smallest tp, then pp, whose states fit; None without one."""
    fit = [
        one
        for one in ways(chips, layers, heads)
        if states(parameters, *one, zero) <= room
    ]
    return min(fit, default=None)


# ---- tests ----

CUT = ((1, 12), (2, 4), (3, 2))  # level from which on a kind is cut, and its bytes


def held(parameters, tp, pp, dp, zero, up=0, alone=False, whole=False):
    """By adding up kinds; a slip: levels off by one, nothing else cut, all cut."""
    total = 0.0
    for level, size in CUT:
        own = size / dp if zero + up >= level or (whole and zero) else size
        if alone and zero != level:
            own = float(size)
        total += own
    return parameters * total / tp / pp


CASES = [
    {"parameters": 8e9, "tp": tp, "pp": pp, "dp": dp, "zero": zero}
    for tp, pp, dp in ((1, 1, 8), (2, 1, 4), (4, 2, 16), (8, 8, 1), (1, 4, 3))
    for zero in range(4)
]
ZERO_SLIPS = {
    "Each level of ZeRO cuts what the levels below it cut, too.": (
        lambda **case: held(**case, alone=True)
    ),
    "Level 1 cuts the optimizer state alone; gradients are level 2, weights level 3.": (
        lambda **case: held(**case, whole=True)
    ),
    "Your levels are off by one: at ZeRO 0 nothing is cut by dp.": (
        lambda **case: held(**case, up=1)
    ),
    "Tensor parallelism and the pipeline cut the states: divide by tp and pp.": (
        lambda parameters, tp, pp, dp, zero: held(parameters, 1, 1, dp, zero)
    ),
    "The pipeline cuts the layers, and with them the states: divide by pp, too.": (
        lambda parameters, tp, pp, dp, zero: held(parameters, tp, 1, dp, zero)
    ),
}


def test_states():
    expect.function_matches(
        states, held, CASES, unit="B", rel=1e-9, mistakes=ZERO_SLIPS
    )


CLUSTERS = ((64, 80, 64), (8, 32, 32), (48, 36, 24), (7, 80, 64), (1, 3, 5))


def all_ways(chips, layers, heads):
    """By factors of the whole triple."""
    return {
        (tp, pp, dp)
        for tp in range(1, chips + 1)
        if not heads % tp
        for pp in range(1, chips // tp + 1)
        if not layers % pp
        for dp in range(1, chips // tp // pp + 1)
        if tp * pp * dp == chips
    }


def mine_of(chips, layers, heads):
    found = list(ways(chips, layers, heads))
    return [tuple(int(n) for n in one) for one in found]


def test_ways():
    for case in CLUSTERS:
        mine, right = mine_of(*case), all_ways(*case)
        words = "{} chips, {} layers, {} heads".format(*case)
        if len(set(mine)) != len(mine):
            raise expect.Mistake(f"{words}: a layout is listed twice")
        if set(mine) == right:
            continue
        chips, layers, heads = case
        for tp, pp, dp in mine:
            if tp * pp * dp != chips:
                raise expect.Mistake(
                    f"{words}: {tp} x {pp} x {dp} does not fill the chips"
                )
            if heads % tp or layers % pp:
                raise expect.Mistake(
                    f"{words}: tp = {tp}, pp = {pp} does not divide heads and layers"
                )
        raise expect.Mistake(
            f"{words}: {len(mine)} layouts, {len(right)} divide; "
            f"{min(right - set(mine))} is missing"
        )


ROOMS = (20e9, 45e9, 60e9, 64e9, 80e9, 200e9)
SIZES = ((70.6e9, 64, 80, 64), (8e9, 8, 32, 32), (405e9, 64, 126, 128))


def right_of(parameters, chips, layers, heads, room, zero, key=None, under=False):
    fit = []
    for one in all_ways(chips, layers, heads):
        size = held(parameters, *one, zero)
        if size < room or (size == room and not under):
            fit.append(one)
    return min(fit, key=key, default=None)


ORDER_SLIPS = {
    "You took the layout that holds least; the smallest tp that fits is asked for.": (
        lambda **case: right_of(
            **case,
            key=lambda one: (held(case["parameters"], *one, case["zero"]), one),
        )
    ),
    "Smallest tp first, then smallest pp.": (
        lambda **case: right_of(**case, key=lambda one: (one[1], one[0]))
    ),
    "States of exactly the room do fit.": lambda **case: right_of(**case, under=True),
}


def test_lightest():
    if any(abs(states(**c) / held(**c) - 1) > 1e-9 for c in CASES):
        raise expect.Mistake("`lightest` stands on `states`: begin there")
    cases = [
        {"parameters": n, "chips": c, "layers": x, "heads": h, "room": r, "zero": z}
        for n, c, x, h in SIZES
        for r in ROOMS
        for z in (0, 1, 3)
    ]
    cases.append(
        {
            "parameters": 8e9,
            "chips": 8,
            "layers": 32,
            "heads": 32,
            "room": 36e9,
            "zero": 0,
        }
    )
    answers = []
    for case in cases:
        found = lightest(**case)
        if found is not None:
            found = tuple(int(n) for n in found)
        answers.append(found)
    failed = [
        (case, mine)
        for case, mine in zip(cases, answers, strict=True)
        if mine != right_of(**case)
    ]
    if not failed:
        tp = answers[3 * ROOMS.index(80e9)][0]
        expect.reading("ways of tensor parallelism, 70.6 billion without ZeRO", tp)
        return
    for text, slip in ORDER_SLIPS.items():
        if all(slip(**case) == mine for case, mine in failed):
            raise expect.Mistake(text)
    case, mine = failed[0]
    raise expect.Mistake(f"{case}: {mine}, and {right_of(**case)} is right")
