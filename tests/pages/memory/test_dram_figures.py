"""The figures of DRAM: command time lines, saturation, and the live channel."""

from functools import partial

import pytest

from stacklib import memory
from stacklib.memory.dram.rates import random_rate
from stacklib.pages.memory.dram import live as explorer
from stacklib.pages.memory.dram import published
from stacklib.pages.memory.dram.figures import commands_spec, in_flight_spec
from stacklib.plots import spec as grammar

from ...live_figures import ask

readouts = partial(ask, explorer.explore, explorer.controls())


@pytest.mark.parametrize("policy", ["open", "closed"])
def test_a_time_line_shows_every_command_where_it_was_issued(policy):
    channel = memory.DramChannel("ddr4-3200", policy=policy, refresh="none")
    served = channel.run([0, 256, 1 << 17, 0])
    spec = commands_spec([("run", served)], title="Four reads.", until=1000)
    grammar.check(spec)
    bars = [m for m in spec["marks"] if m["kind"] == "bar"]
    tick = served.part.clock * 1e9
    data = [m for m in bars if m["name"] == "data"]
    assert [m["x"][1] for m in data] == [
        pytest.approx(t * tick) for t in sorted(served.finished)
    ]
    opens = [c.cycle * tick for c in served.commands() if c.kind == "ACT"]
    assert [m["x"][0] for m in bars if m["name"] == "row opens"] == opens
    closed = [m for m in bars if m["name"] == "row closes"]
    assert len(closed) == (4 if policy == "closed" else len(opens) - 1)


def test_bars_end_where_the_figure_does():
    served = memory.DramChannel("hbm3").run([0, 1 << 20])
    spec = commands_spec([("run", served)], title="Cut.", until=20)
    assert all(0 <= x <= 20 for m in spec["marks"] for x in m["x"])


def test_saturation_has_a_dot_for_every_run_on_a_line():
    curves = published.curves("a100_sxm_40gb")
    spec = in_flight_spec(curves, title="An A100.")
    grammar.check(spec)
    lines = [m for m in spec["marks"] if m["kind"] == "line"]
    dots = [m for m in spec["marks"] if m["kind"] == "dots"]
    assert [m["x"] for m in lines] == [m["x"] for m in dots]
    assert all(0 < y <= 100 for m in spec["marks"] for y in m["y"])


def test_the_live_channel_says_what_the_simulator_does():
    found, said = readouts(part="hbm3", pattern="one bank")
    part = memory.dram_part("hbm3")
    alone = 100 * (random_rate(part, 1) / part.bandwidth).si
    assert float(said["share"].split()[0]) == pytest.approx(alone, rel=0.01)
    assert "one bank" in found["title"] and said["hits"] == "0 %"
    assert readouts(part="hbm3", pattern="stream")[1]["share"] > said["share"]
