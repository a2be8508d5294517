"""Section 8.5: the loop is the scheduler, and what the page steps through adds up."""

import random
from functools import partial

import pytest

from stacklib.pages.serving import batching as page
from stacklib.pages.serving.batching import drawings, figures, live, scene
from stacklib.plots import spec as grammar
from stacklib.serving.engine.dry import DryRun

from ...live_figures import ask
from ...programs import loop_of

loop = loop_of("08-serving/batching")
readouts = partial(ask, live.explore, live.controls())


def planned(monkeypatch, asked, slots, chunk, pool, size):
    """What the package's scheduler gives out in each step, no prefix found again."""
    engine = DryRun(blocks=pool, block_size=size, max_batch=slots, chunk=chunk)
    monkeypatch.setattr(engine._memory.allocator, "publish", lambda *_: None)
    names = {}
    for name, prompt, most in asked:
        names[engine.submit([7] * prompt, most=most)] = name
    steps, plan = [], engine._scheduler.plan

    def watched():
        given = plan()
        steps.append({names[each]: count for each, count in given.items()})
        return given

    monkeypatch.setattr(engine._scheduler, "plan", watched)
    while engine.busy:
        engine.step()
    return steps


def printed(text):
    return [
        dict(zip(line.split()[::2], map(int, line.split()[1::2]), strict=True))
        for line in text.splitlines()
    ]


def test_the_loop_schedules_as_the_package_does(monkeypatch):
    first = loop().splitlines()[1]
    draw = random.Random(5)
    for _ in range(30):
        slots, size = draw.randint(1, 5), draw.randint(1, 5)
        chunk, pool = draw.randint(slots, 20), draw.randint(30 // size, 60 // size)
        asked = [
            (letter, draw.randint(1, 16), draw.randint(1, 14))
            for letter in "abcdefg"[: draw.randint(1, 7)]
        ]
        line = [[name, prompt, most, 0] for name, prompt, most in asked]
        told = f"slots, chunk, pool, size = {slots}, {chunk}, {pool}, {size}\n"
        mine = loop.prints(
            "slots, chunk, pool, size = 3, 8, 8, 4\n" + first, told + (f"line = {line}")
        )
        due = planned(monkeypatch, asked, slots, chunk, pool, size)
        assert printed(mine) == due


def test_what_the_page_says_of_its_loop():
    usual = printed(loop.prints())
    back = [sum("c" in step for step in usual[at:]) for at in range(len(usual))]
    assert "c" in usual[1] and "c" not in usual[3] and back[3] > 0
    wide = printed(loop.prints("3, 8, 8, 4", "3, 8, 12, 4"))
    read = sum(step.get("c", 0) for step in wide)
    assert read == 14 + 4 - 1 < sum(step.get("c", 0) for step in usual)
    assert len(printed(loop.prints("3, 8, 8, 4", "3, 32, 8, 4"))) < len(usual)


def test_three_ways_to_the_gain():
    assert page.gain().si == pytest.approx(sum(1 / n for n in range(1, 9)))
    assert page.slots_gain(requests=20_000).si == pytest.approx(
        page.gain().si, rel=0.02
    )
    for way in page.WAYS:
        assert page.engine_steps(way).si == page.slot_steps(way).si
    assert 1.5 <= page.engine_gain().si <= page.slots_gain().si


def test_a_step_of_eight_hardly_takes_longer():
    assert 1 < (page.tpot(8) / page.tpot(1)).si < 1.2
    assert page.machine_rate(8).si == pytest.approx(8 / page.tpot(8).si)
    assert page.read_for_a_token(8).si == pytest.approx(
        page.read_for_a_token(1).si / 8, rel=0.01
    )


def test_the_parts_of_the_scene_are_its_latencies():
    for only in ("", *scene.NAMES):
        run = scene.run(only=only)
        for who, told in run.delays.items():
            assert sum(told.parts.values()) == pytest.approx(told.total)
            assert told.total == run.latency[who].e2e
    assert sum(row["time"].si for row in page.parts()) == pytest.approx(
        page.waited("e2e").si
    )
    assert {row["number"] for row in page.latencies()} == set(page.ENGLISH.values())


def test_what_the_page_says_of_c_and_e():
    told = scene.run().delays
    (lost,) = told["C"].evictions
    assert lost.recomputed == page.again().si > 0
    assert told["E"].cached == page.found("E").si < scene.SHARED
    assert told["E"].missed == "evicted from token 4 on, at step 18 for 3"
    assert scene.NAMES[3] == "D"


def test_rows_of_the_scene_are_all_that_were_read():
    run = scene.run()
    counts = run.metrics.counts
    assert sum(r.all for m in run.moments for r in m.rows.values()) == counts.rows
    assert counts.preemptions == sum(len(m.preempted) for m in run.moments) == 1


def test_the_tiny_model_is_not_changed_by_its_company():
    assert page.compared("wrong").si == 0 < page.compared("tokens").si


@pytest.mark.parametrize("policy", live.WORDS)
def test_the_log_can_be_stepped_through(policy):
    for step, blocks, slots in ((1, 5, 1), (7, 8, 3), (60, 16, 6)):
        given = {"step": step, "policy": policy, "blocks": blocks, "slots": slots}
        spec, said = readouts(**given)
        assert len(spec["table"]["rows"]) == blocks
        assert said["total"] and said["missed"]
    _, said = readouts(step=20, who="E")
    assert said["missed"].endswith("at step 18 for D")


def test_figures():
    grammar.check(figures.gain_spec(title="The more, the more."))
    found = drawings.slots_over_steps()
    still, moving = (
        page.drawn_steps(w, drawings.DRAWN, drawings.MEAN, drawings.SEED)
        for w in page.WAYS
    )
    assert moving.si < still.si
    assert (
        f"{still.text()} steps" in found.alt and f"{moving.text()} steps" in found.alt
    )
