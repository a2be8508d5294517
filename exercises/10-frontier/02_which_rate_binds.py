"""Find the input that binds a step, by making each better in turn.

level: build

Suppose the lines of a step with their times, and for each input the lines that get
shorter with it. Lines of one tuple in `together` run at the same time: only the longest
of them counts. All others follow each other.

- `step(lines, together)`: the time of a step.
- `worth(lines, inputs, by, together)`: for each input its time before over after, less
  one, when it gets better by `by`, all else as it was: a dict.
- `binds(lines, inputs, by, together)`: the input that is worth most. Where the best two
  are worth the same, the one that is named first.

A line that is named and that the step does not have is a mistake: raise `ValueError`
naming it. Then compare `binds` with `stacklib.frontier.binding_layer` on the lines that
`stacklib estimate llama-3-70b --on b200-sxm --tp 8` prints.

hint: Copy the lines, shorten those of one input, and take the step again. Begin anew
for each input.
"""

from functools import partial

from stacklib.grading import expect

# ---- your answer ----


def check(lines, groups):
    """Every line that is named is there."""
    for group in groups:
        for name in group:
            if name not in lines:
                raise ValueError(f"no line {name!r}: {', '.join(lines)}")


def step(lines, together=()):
    """The longest of each group, and all that stand alone."""
    check(lines, together)
    grouped = {name for group in together for name in group}
    alone = sum(time for name, time in lines.items() if name not in grouped)
    return alone + sum(max(lines[name] for name in group) for group in together)


def worth(lines, inputs, by=0.1, together=()):
    """Each from the step as it was."""
    check(lines, inputs.values())
    before, found = step(lines, together), {}
    for name, own in inputs.items():
        better = {k: t / (1 + by) if k in own else t for k, t in lines.items()}
        found[name] = before / step(better, together) - 1
    return found


def binds(lines, inputs, by=0.1, together=()):
    """The first of the largest."""
    found = worth(lines, inputs, by, together)
    return max(found, key=found.get)


# ---- tests ----

LINES = {"read": 6.1, "multiply": 0.9, "exchange": 0.8, "launch": 0.4, "pause": 4.4}
NAMES = "memory", "arithmetic", "exchanges", "kernels", "engine"
INPUTS = {name: (own,) for name, own in zip(NAMES, LINES, strict=True)}
MANY = {**LINES, "read": 6.4, "multiply": 3.1, "exchange": 5.8}
SIDE = [("read", "multiply")]
TWO = [("read", "multiply"), ("exchange", "pause")]
CASES = [
    {"lines": lines, "together": group}
    for lines in (LINES, MANY)
    for group in ((), SIDE, TWO)
]


def whole(lines, together, sums=max):
    """Line by line: it counts unless one beside it is longer."""
    left = dict(lines)
    for group in together:
        left[group[0]] = sums([left.pop(name) for name in group])
    return sum(left.values())


def test_step():
    told = {
        "Of lines that run at once the longest counts, not all.": partial(
            whole, sums=sum
        )
    }
    expect.function_matches(step, whole, CASES, rel=1e-9, mistakes=told)


def one(name, lines, together, by, kept=False):
    """One input's worth; ``kept`` keeps what was made better before it."""
    at = NAMES.index(name)
    old = {INPUTS[n][0]: 1 + by for n in NAMES[: at * kept]}
    now = {line: time / old.get(line, 1) for line, time in lines.items()}
    own = INPUTS[name][0]
    better = {**now, own: now[own] / (1 + by)}
    return whole(now, together) / whole(better, together) - 1


def test_worth():
    def mine(name, **case):
        return worth(inputs=INPUTS, **case)[name]

    cases = [
        {**c, "name": n, "by": by} for c in CASES for n in INPUTS for by in (0.1, 1)
    ]
    told = {
        "Each input moves by itself: put the last one back.": partial(one, kept=True)
    }
    expect.function_matches(mine, one, cases, rel=1e-9, mistakes=told)


def test_binds():
    for lines, name in (
        (LINES, "memory"),
        ({**MANY, "exchange": 7.1}, "exchanges"),
        ({**LINES, "read": 3.0}, "engine"),
        ({**LINES, "read": 3.0, "pause": 3.0}, "memory"),
    ):
        found = binds(lines, INPUTS, 0.1, SIDE)
        expect.reading("what binds", found)
        assert found == name, f"{name} is worth most of {lines}, not {found}"


def test_a_line_that_is_not_there_is_refused():
    bad = {"lines": LINES, "inputs": {"fans": ("cooling",)}}
    expect.refuses(worth, bad, because="there is no such line")
    group = {"lines": LINES, "together": [("read", "prefetch")]}
    expect.refuses(step, group, because="there is no such line")
