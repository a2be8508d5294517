"""One forward, one backward.

level: build

Suppose a pipeline of `stages`, numbered from 0, and a training batch of `microbatches`,
numbered from 0. Write down what a stage does, in order, under 1F1B without chunks.
First come as many forwards as there are stages behind it; there are no more than
microbatches. Then forward and backward take turns until the forwards are used up, and
the backwards that are left follow. Forwards and backwards each go by number.

- `order(stage, stages, microbatches)`: a list of pairs, `("f", number)` for a forward
  and `("b", number)` for a backward.
- `held(stage, stages, microbatches)`: the most microbatches whose activations the stage
  holds at once. A forward begins to hold one, its backward ends that.
- `step_time(stages, microbatches, forward, backward)`: seconds from the first start to
  the last end, if a forward and a backward of a microbatch take a stage that long and
  sending takes no time.

hint: on the last of four stages every forward is followed by its own backward. The
first of them begins with three forwards, and does its fourth before its first backward.
For the time, follow the first stage: it is the first to start and the last to end.
"""

from stacklib.grading import expect
from stacklib.interconnect.pipelines.order import Pipeline, Work, pipeline
from stacklib.interconnect.pipelines.run import run_pipeline

# ---- your answer ----


def order(stage, stages, microbatches):
    """What a stage does, in order."""
    ahead = min(stages - 1 - stage, microbatches)
    found = [("f", k) for k in range(ahead)]
    for k in range(microbatches):
        if ahead + k < microbatches:
            found.append(("f", ahead + k))
        found.append(("b", k))
    return found


def held(stage, stages, microbatches):
    """The most microbatches held at once."""
    return min(stages - stage, microbatches)


def step_time(stages, microbatches, forward, backward):
    """Seconds of a step."""
    return (microbatches + stages - 1) * (forward + backward)


# ---- tests ----

SHAPES = [(1, 3), (2, 4), (4, 8), (4, 2), (8, 8), (3, 7)]
KINDS = {"f": "forward", "b": "backward"}


def mine_of(stage, stages, microbatches):
    case = {"stage": stage, "stages": stages, "microbatches": microbatches}
    found = expect.call(order, case)
    try:
        return tuple(Work(KINDS[kind], int(number)) for kind, number in found)
    except (KeyError, TypeError, ValueError):
        raise expect.Mistake(
            f"stage {stage}: a list of pairs like ('f', 0) and ('b', 0) is asked for, "
            f"not {found!r}"
        ) from None


def ran(orders, microbatches):
    """The reader's orders run; a deadlock or a missing piece is named."""
    try:
        return run_pipeline(Pipeline(orders, microbatches))
    except ValueError as error:
        raise expect.Mistake(str(error)) from None


def test_order():
    for stages, microbatches in SHAPES:
        orders = tuple(mine_of(s, stages, microbatches) for s in range(stages))
        run = ran(orders, microbatches)
        known = pipeline(stages, microbatches).orders
        best = run_pipeline(pipeline(stages, microbatches))
        shape = f"{stages} stages, {microbatches} microbatches"
        if max(run.held) > max(best.held):
            raise expect.Mistake(
                f"{shape}: it runs, but a stage holds {max(run.held):.0f} microbatches "
                f"where {max(best.held):.0f} suffice. All forwards first is GPipe."
            )
        if run.time > best.time + 1e-9:
            raise expect.Mistake(
                f"{shape}: it runs, but takes {run.time:g} where {best.time:g} are "
                "possible. A stage has to be ahead of its backwards by the stages "
                "behind it."
            )
        for stage, (found, right) in enumerate(zip(orders, known, strict=True)):
            at = [a == b for a, b in zip(found, right, strict=True)]
            if not all(at):
                raise expect.Mistake(
                    f"{shape}, stage {stage}: as quick, but not the order asked for: "
                    f"{right[at.index(False)]} comes earlier"
                )


def _cases():
    return [
        {"stage": s, "stages": p, "microbatches": m}
        for p, m in SHAPES
        for s in range(p)
    ]


def test_held():
    expect.function_matches(
        held,
        lambda stage, stages, microbatches: run_pipeline(
            pipeline(stages, microbatches)
        ).held[stage],
        _cases(),
        mistakes={
            "A forward goes before the first backward, also on the last stage: one "
            "more than the stages behind.": lambda stage, stages, microbatches: min(
                stages - 1 - stage, microbatches
            ),
            "There are no more than the microbatches of the step.": (
                lambda stage, stages, microbatches: stages - stage
            ),
            "That is GPipe's: it holds all of them.": (
                lambda stage, stages, microbatches: microbatches
            ),
            "The first stage holds most; the last has its backward at once.": (
                lambda stage, stages, microbatches: min(stage + 1, microbatches)
            ),
        },
    )


def test_step_time():
    expect.function_matches(
        step_time,
        lambda stages, microbatches, forward, backward: (
            (microbatches + stages - 1) * (forward + backward)
        ),
        [
            {"stages": p, "microbatches": m, "forward": 1.0, "backward": b}
            for p, m in SHAPES
            for b in (2.0, 1.5)
        ],
        unit="s",
        mistakes={
            "That is the work of a stage; it also waits.": (
                lambda stages, microbatches, forward, backward: (
                    microbatches * (forward + backward)
                )
            ),
            "It waits for the way there and for the way back.": (
                lambda stages, microbatches, forward, backward: (
                    microbatches * (forward + backward) + (stages - 1) * forward
                )
            ),
            "The stages work at the same time; all of it one after another would take "
            "that long.": lambda stages, microbatches, forward, backward: (
                stages * microbatches * (forward + backward)
            ),
        },
    )
    expect.reading("of 8 stages and 32 microbatches", step_time(8, 32, 1, 2), "s")
