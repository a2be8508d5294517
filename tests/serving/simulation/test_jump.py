"""Passing over steps changes nothing, to the last nanosecond."""

from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.serving.simulation.rows import ROUTERS, SCHEDULERS
from stacklib.serving.simulation.simulate import simulate
from stacklib.serving.simulation.traffic import Row

MS = 1_000_000
MODEL = ("llama-2-7b", "h100-sxm")
# Machines that stay, that fail by a list or by a draw, and that come when asked for.
MACHINES = (
    {"replicas": 1},
    {"replicas": 3},
    {"replicas": 2, "failures": [(0.021, 0, 0.03), (0.1, 1, 0.002)]},
    {"replicas": 2, "failures": {"between": 0.2, "down": 0.01}},
    {"replicas": 1, "autoscale": {"most": 3, "waiting": 1, "ready": 0.03}},
    {"pools": {"prefill": 1, "decode": 2, "crossing": 0.01}, "failures": [(0.1, 1, 0)]},
    {"pools": {"attention": 1, "mlp": 2}},
    {"pools": {"prefill": 2, "decode": 2}},
    {"draft": (0.7, 1), "pools": {"prefill": 2, "decode": 1}},
)
TIERS = (None, {"host": (3, 50e9), "drive": (20, 5e9)})


@st.composite
def houses(draw):
    """Rows some milliseconds apart, and a house that is sometimes too small."""
    rows, at = [], 0
    for number in range(draw(st.integers(1, 14))):
        at += draw(st.sampled_from((0, 0, 1, 5 * MS, 61 * MS + 7)))
        prompt = draw(st.integers(1, 90))
        prefix = draw(st.sampled_from((0, min(prompt, 20), ("a", prompt // 2))))
        rows.append(Row(number, at, prompt, draw(st.integers(1, 60)), prefix))
    longest = max(-(-(row.prompt + row.new - 1) // 16) for row in rows)
    max_batch = draw(st.integers(1, 6))
    return {
        "traffic": rows,
        "blocks": longest + draw(st.integers(0, 9)),
        "max_batch": max_batch,
        "chunk": 2 * max_batch + draw(st.integers(0, 60)),
        "tiers": draw(st.sampled_from(TIERS)),
        "scheduler": draw(st.sampled_from(sorted(SCHEDULERS))),
        "router": draw(st.sampled_from(sorted(ROUTERS))),
        "step_time": draw(st.sampled_from((None, 0.005))),
        **draw(st.sampled_from(MACHINES)),
    }


def told(found):
    """All that a run says but its log."""
    out = found.outcome
    return out.requests, +out.gaps, out.busy, out.steps, out.preemptions, out.on


@settings(max_examples=150, deadline=None)
@given(houses())
def test_steps_passed_over_and_made_one_by_one_are_the_same(house):
    far = simulate(*MODEL, **house)
    near = simulate(*MODEL, **house, jump=False)
    assert told(far) == told(near)


@settings(max_examples=20, deadline=None)
@given(houses())
def test_a_log_changes_nothing_and_its_steps_fill_the_time(house):
    house.pop("failures", None)  # a step that is lost is none
    found = simulate(*MODEL, **house)
    log = found.timeline()
    assert sum(ran.steps for ran in log) == found.outcome.steps
    assert sum(ran.end - ran.start for ran in log) == sum(found.outcome.busy)
    written = sum(row.new for row in house["traffic"])
    # Every token but first ones comes a gap after the one before it.
    assert sum((+found.outcome.gaps).values()) == written - len(house["traffic"])
