"""Programs of warps written in the page: what they issue, and what is refused."""

import numpy as np
import pytest

from stacklib import gpu
from stacklib.gpu.issue import replay as replay_module
from stacklib.gpu.issue.replay import REASONS, replay
from stacklib.gpu.issue.streams import KINDS
from stacklib.memory.warp._fast import fast
from stacklib.pages.gpu.schedule import live_warps as live
from stacklib.pages.gpu.schedule import stalls
from stacklib.pages.gpu.schedule.warp_text import (
    WORDS,
    ProgramFault,
    streams_of,
)

from ...live_figures import ask

DEVICE = live.DEVICE


def copied(t, a, b, out):
    s = t.shared(64)
    i = t.thread.x
    s[i] = a[i]
    t.sync()
    out[i] = s[i] * b[i] + 1.0


def as_text(streams, warp=0):
    """A warp's instructions of a launch as a program of the page."""
    said = {kind: word for word, kind in reversed(WORDS.items())}
    lines = []
    for at, row in enumerate(streams.of(warp)):
        kind = KINDS[streams.kind[row]]
        if kind == "exit":
            continue
        needs = " ".join(f"v{need}" for need in streams.needs[row] if need >= 0)
        gives = "" if kind.startswith(("store", "barrier")) else f"v{at} = "
        lines.append(f"{gives}{said[kind]} {needs}")
    return "\n".join(lines)


def test_a_kernel_written_down_takes_the_time_of_its_launch():
    given = np.ones(64, np.float32), np.ones(64, np.float32)
    report = gpu.launch(copied, 1, 64, DEVICE, *given, gpu.empty(64)).report
    done = report.times.replayed
    machine = done.machine
    mine = replay(streams_of(as_text(done.streams), 2, "memory"), machine, resident=1)
    assert mine.cycles == done.cycles and mine.stalls == done.stalls
    assert mine.issued == report.instructions


@pytest.mark.parametrize("name", live.PROGRAMS)
@pytest.mark.parametrize("warps", [1, 7, 32])
def test_the_browsers_replay_is_the_machines(name, warps, monkeypatch):
    streams = streams_of(live.PROGRAMS[name], warps, "l2")
    monkeypatch.setattr(replay_module, "soon", lambda loop, steps: fast(loop))
    quick = replay(streams, DEVICE, resident=1)
    found = (quick.cycles, quick.stalls, quick.ports, list(map(int, quick.when)))
    monkeypatch.setattr(replay_module, "compiled", lambda: False)
    monkeypatch.setattr(replay_module, "soon", lambda loop, steps: loop)
    plain = replay(streams, DEVICE, resident=1)
    assert found == (plain.cycles, plain.stalls, plain.ports, plain.when)


def test_the_figure_says_what_the_replay_says():
    text = live.PROGRAMS["two loads, two sums"]
    spec, texts = ask(live.explore, live.controls(), program=text, warps=8)
    done = replay(streams_of(text, 8, "l1"), DEVICE, resident=1)
    assert texts["cycles"] == f"{done.cycles:,}"
    listed = {row["head"]: row["cells"][0]["text"] for row in spec["table"]["rows"]}
    wanted = {stalls.named(r): f"{n:,}" for r, n in done.stalls.items() if n}
    assert listed == wanted


def test_independent_chains_fill_what_one_chain_leaves():
    one, four = (
        live.PROGRAMS[f"{n} of multiply-adds"] for n in ("one chain", "four chains")
    )
    alone = replay(streams_of(one, 1, "l1"), DEVICE, resident=1)
    assert alone.cycles == 25 * 4 and alone.stalls["wait"] == 24 * 3
    many = replay(streams_of(four, 1, "l1"), DEVICE, resident=1)
    assert many.stalls["wait"] == 0


def test_lanes_further_apart_ask_for_more():
    near, far = (streams_of(f"a = load {n}", 1, "memory").requests[0] for n in (1, 32))
    assert tuple(near) == (1, 0, 0, 4, 0) and tuple(far) == (32, 0, 0, 32, 0)
    near, far = (
        streams_of(f"a = load_shared {n}", 1, "l1").requests[0] for n in (1, 32)
    )
    assert near[0] == 1 and far[0] == 32


REFUSED = {
    "a = lod": "line 1: `lod` is no instruction; did you mean `load`?",
    "a = fma q": "line 1: q holds nothing in warp 0",
    "if warp == 1\na = load\nend\nb = fma a": "line 4: a holds nothing in warp 0",
    "repeat 3\na=load": "line 1: no `end` follows",
    "end": "line 1: this `end`",
    "x = store": "line 1: `store` leaves no result",
    "bar 3": "line 1: `bar` takes no number",
    "a = load 33": "line 1: lanes 33 words apart",
    "repeat 101\nend": "line 1: `repeat 101`",
    "if warps < 2\nend": "line 1: `if warps < 2`",
    "": "no instruction",
    "repeat 100\n" * 7 + "end\n" * 7: "no instruction",
    "repeat 2\n" * 8: "line 8: over 7 blocks",
    "repeat 100\nrepeat 100\na = load\nend\nend": "line 3: over 4,000 instructions",
    "a = fma\nb = fma a a a a a": "line 2: 5 operands; at most 4",
    "a b = load": "line 1: a result is written",
    "bar\nrepeat 2\nif warp < 2\nbar\nend\nend": (
        "line 4: a deadlock: `bar` is reached by warps 0, 1, never by warps 2, 3"
    ),
}


@pytest.mark.rows("text", REFUSED)
def test_what_cannot_run_is_named_and_gets_no_number(text):
    with pytest.raises(ProgramFault) as refused:
        streams_of(text, 4, "l1")
    assert REFUSED[text] in str(refused.value)
    spec, texts = ask(live.explore, live.controls(), program=text)
    assert spec["message"].lower().startswith(REFUSED[text].lower()[:20])
    assert not texts and not spec["marks"] and "table" not in spec


def test_every_reason_has_a_place_in_the_figure():
    assert set(stalls.FAMILY) == set(REASONS)


def test_cells_are_shared_out_as_the_cycles_were():
    assert stalls.shared_out({"a": 50, "b": 30, "c": 20}, 7) == {"a": 4, "b": 2, "c": 1}
    done = replay(streams_of("a = load\nb = fma a", 4, "l2"), DEVICE, resident=1)
    spec = stalls.stalls_spec({"one": done}, title="T.", each=10)
    assert sum(len(m["x"]) for m in spec["marks"]) == round(done.cycles / 10)


def test_a_timeline_shows_every_warp_from_its_first_cycle_to_its_last():
    done = replay(
        streams_of(live.PROGRAMS["one chain of multiply-adds"], 3, "l1"),
        DEVICE,
        resident=1,
    )
    spec = stalls.timeline_spec(done, title="T.")
    at = [p for m in spec["marks"] for p in zip(m["x"], m["y"], strict=True)]
    ends = [int(done.when[end - 1]) + 1 for end in done.streams.first[1:]]
    width = -(-max(ends) // stalls.COLUMNS)
    last = [-(-end // width) for end in ends]
    assert len(at) == len(set(at)) == sum(last)
