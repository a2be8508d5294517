"""Traffic keeps to its law, its seeds are apart, and bad rows are named."""

import statistics
from itertools import pairwise

import numpy as np
import pytest

from stacklib.serving import agents, bursty, chat, poisson, simulate, trace
from stacklib.serving.simulation.sessions import CONTEXTS, MOMENTS
from stacklib.serving.simulation.traffic import lognormal

LONG = lognormal(200, 300)


def pauses(rows):
    times = [row.arrival for row in rows]
    return [after - before for before, after in pairwise(times)]


@pytest.mark.parametrize("cv", [0.5, 1.0, 3.0])
def test_pauses_have_their_mean_and_spread(cv):
    found = pauses(bursty(20, 20_000, cv=cv))
    mean = statistics.fmean(found)
    assert mean == pytest.approx(50e6, rel=0.06)
    assert statistics.stdev(found) / mean == pytest.approx(cv, rel=0.06)


def test_poissons_pauses_are_exponential():
    found = pauses(poisson(20, 20_000))
    assert statistics.stdev(found) / statistics.fmean(found) == pytest.approx(1, 0.03)


def test_lengths_have_their_median_and_mean():
    found = [row.prompt for row in poisson(1, 20_000, prompt=LONG)]
    assert statistics.median(found) == pytest.approx(200, rel=0.03)
    assert statistics.fmean(found) == pytest.approx(300, rel=0.03)


def test_arrivals_and_lengths_are_drawn_apart():
    plain = poisson(5, 500, seed=4)
    long = poisson(5, 500, seed=4, prompt=LONG, new=LONG)
    assert [row.arrival for row in plain] == [row.arrival for row in long]
    alike = [row.prompt for row in poisson(9, 500, seed=4, prompt=LONG)]
    assert [row.prompt for row in long] == alike
    series = pauses(long), alike[1:], [row.new for row in long][1:]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert abs(statistics.correlation(series[one], series[other])) < 0.12
    assert poisson(5, 9, seed=1) != poisson(5, 9, seed=2)


def test_conversations_go_on_with_what_was_said():
    rows = chat(1, 400)
    by_text: dict[str, list] = {}
    for row in rows:
        by_text.setdefault(row.text, []).append(row)
    for turns in by_text.values():
        history = 0
        for row in turns:
            assert row.shared == history < row.prompt
            history = row.prompt + row.new
    mean = statistics.fmean(map(len, by_text.values()))
    assert mean == pytest.approx(MOMENTS["chat turns"].value, rel=0.12)
    said = [row.prompt - row.shared for row in rows]
    assert statistics.fmean(said) == pytest.approx(MOMENTS["chat said"].value, rel=0.1)
    wrote = statistics.fmean(row.new for row in rows)
    assert wrote == pytest.approx(MOMENTS["chat answered"].value, rel=0.1)


def test_agents_read_the_documents_contexts():
    rows = agents(0.1, 30)
    assert {row.prompt for row in rows} == set(CONTEXTS)
    assert len(rows) == 30 * len(CONTEXTS)
    assert rows == sorted(rows, key=lambda row: row.arrival)


def test_every_moment_has_a_source():
    assert all(each.source for each in MOMENTS.values())


def told(tmp_path, text):
    path = tmp_path / "trace.csv"
    path.write_text(text, "utf-8", "surrogateescape")
    return path


def test_traces_of_three_forms_are_read(tmp_path):
    own = "id,arrival,prompt,new,prefix\na,5,40,3,s:16\nb,9,8,1,\n"
    rows = trace(told(tmp_path, own))
    assert [tuple(row) for row in rows] == [
        ("a", 0, 40, 3, ("s", 16)),
        ("b", 4, 8, 1, 0),
    ]
    azure = (
        "TIMESTAMP,ContextTokens,GeneratedTokens\n"
        "2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n"
    )
    assert [tuple(row) for row in trace(told(tmp_path, azure))] == [
        (0, 0, 374, 44, 0),
        (1, 4_314_579_000, 396, 109, 0),
    ]
    burst = "Timestamp,Model,Request tokens,Response tokens\n5,A,472,18\n45.5,A,9,2\n"
    assert trace(told(tmp_path, burst))[1].arrival == 40_500_000_000


@pytest.mark.parametrize(
    "text, says",
    [
        ("arrival,prompt,new\n5,1,1\n4,1,1\n", "line 3: arrival = '4' comes before"),
        ("arrival,prompt,new\n5,-1,1\n", "line 2: prompt = '-1'"),
        ("arrival,prompt,new\n5,1,nan\n", "line 2: new = 'nan'"),
        ("arrival,prompt,new\n-5,1,1\n", "line 2: arrival = '-5'"),
        ("arrival,prompt,new\n5,1\n", "line 2: new = ''"),
        ("arrival,prompt,new,prefix\n5,4,1,x:9\n", "line 2: prefix = 'x:9'"),
        ("arrival,prompt\n5,4\n", "columns arrival, prompt: needed"),
        ("arrival,prompt,new\n", "no lines"),
        ("", "columns none"),
        (f"arrival,prompt,new\n5,1,{'1' * 200_000}\n", "trace.csv: field larger"),
        ("arrival,prompt,new\n5,\udcff,1\n", "trace.csv: 'utf-8' codec"),
    ],
)
def test_bad_lines_are_named_with_their_value(tmp_path, text, says):
    with pytest.raises(ValueError) as wrong:
        trace(told(tmp_path, text))
    assert says in str(wrong.value)


@pytest.mark.parametrize(
    "rows, says",
    [
        ([], "no rows"),
        ([(0, 5, 1, 1), (1, 4, 1, 1)], "row 2 (1): arrival = 4 comes before"),
        ([(0, 0, 0, 1)], "row 1 (0): prompt = 0"),
        ([(0, 0, 1, -2)], "row 1 (0): new = -2"),
        ([(0, 0, float("nan"), 1)], "prompt = nan"),
        ([(0, float("nan"), 1, 1)], "arrival = nan"),
        ([(0, -1, 1, 1)], "arrival = -1"),
        ([(0, 0, True, 1)], "prompt = True"),
        ([(0, 0, 1.5, 1)], "prompt = 1.5"),
        ([(0, 0, 4, 1, ("a", 5))], "prefix = 5 tokens of a prompt of 4"),
        ([(0, 0, 4, 1, ("a", -5))], "prefix = -5"),
        ([(0, 0, 4, 1), (0, 0, 4, 1)], "id 0 stands above"),
        ([(0, 0)], "id, arrival, prompt, new and prefix are needed"),
    ],
)
def test_bad_rows_are_named_with_their_value(rows, says):
    with pytest.raises(ValueError) as wrong:
        simulate(None, traffic=rows, step_time=0.01)
    assert says in str(wrong.value)


def test_narrow_numbers_of_numpys_do_not_run_over():
    rows = [(0, 0, 3000, 2000, ("a", 100)), (1, 9, 3000, 2000, 64)]
    narrow = [tuple(map(np.int16, row[:4])) for row in rows]
    narrow = [(*narrow[0], ("a", np.int8(100))), (*narrow[1], np.int8(64))]
    found, due = (simulate("llama-2-7b", "h100-sxm", each) for each in (narrow, rows))
    assert found.requests == due.requests


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: poisson(0, 5), "rate = 0"),
        (lambda: poisson(float("nan"), 5), "rate = nan"),
        (lambda: poisson(True, 5), "rate = True"),
        (lambda: poisson(1, 2.5), "requests = 2.5"),
        (lambda: poisson(1, 5, prompt=0), "prompt = 0"),
        (lambda: poisson(1, 5, new=lambda draw: -1), "new = -1"),
        (lambda: poisson(1, 5, seed=-1), "seed = -1"),
        (lambda: bursty(1, 5, cv=0), "cv = 0"),
        (lambda: bursty(1, 5, cv=1e-200), "cv = 1e-200"),
        (lambda: bursty(1, 5, cv=1e200), "cv = 1e+200"),
        (lambda: poisson(1e-300, 3), "too many for nanoseconds"),
        (lambda: chat(1, 5, turns=0.5), "turns = 0.5"),
        (lambda: chat(1, 5, pause=-1), "pause = -1"),
        (lambda: agents(1, 5, contexts=(9, 9)), "contexts = [9, 9]"),
        (lambda: lognormal(300, 200), "below the median"),
    ],
)
def test_laws_that_are_none_are_refused(make, says):
    with pytest.raises(ValueError) as wrong:
        make()
    assert says in str(wrong.value)
