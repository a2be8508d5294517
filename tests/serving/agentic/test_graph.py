"""Graphs of calls: what is read, what a cache has, and against enumeration."""

from __future__ import annotations

import math
from itertools import accumulate, pairwise, product

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.paged_kv import PrefixTree
from stacklib.quantity import UnknownName, chosen
from stacklib.serving import call_graph
from stacklib.serving.agentic import graph as module
from stacklib.serving.agentic.graph import ALL, ANSWER, Call, routing


def chain(steps, models=("m",)):
    """Calls that go on one from another, the models in turns."""
    names = [f"h{n}" for n in range(len(steps))]
    calls = {
        name: Call(step, model=models[n % len(models)])
        for n, (name, step) in enumerate(zip(names, steps, strict=True))
    }
    return call_graph(calls, [(a, b, ALL) for a, b in pairwise(names)])


def counted(graph, placed):
    """What `computed` sums, token by token: a prefix tree a model and replica."""
    trees, texts, used, total = {}, {}, 0, 0
    for name, replica in zip(graph.before, placed, strict=True):
        text = list(texts.get(graph.goes_on[name], ()))
        end = graph.held(name)
        # What others wrote is another text wherever it stands.
        text += range(used, used + end - len(text))
        used += end
        tree = trees.setdefault((graph.calls[name].model, replica), PrefixTree())
        prompt = graph.prompts[name]
        total += prompt - tree.match(text[:prompt]).tokens
        tree.insert(text)
        texts[name] = text
    return total


@st.composite
def graphs(draw):
    """Up to six calls, each perhaps going on from an earlier one, of two models."""
    many = draw(st.integers(1, 6))
    calls, edges = {}, []
    for n in range(many):
        own, written = draw(st.integers(1, 9)), draw(st.integers(0, 5))
        calls[f"c{n}"] = Call(own, written, draw(st.sampled_from("ab")))
        earlier = draw(st.sets(st.integers(0, n - 1))) if n else set()
        on = draw(st.sampled_from(sorted(earlier))) if earlier else None
        whole = draw(st.booleans())
        edges += [
            (f"c{e}", f"c{n}", ALL if whole and e == on else ANSWER) for e in earlier
        ]
    return call_graph(calls, edges)


def test_what_a_pipeline_reads():
    graph = call_graph(
        {"plan": Call(2000, 100), "search": Call(500), "answer": Call(300, 200)},
        [("plan", "search"), ("plan", "answer", "all"), ("search", "answer")],
    )
    assert graph.prompts == {"plan": 2000, "search": 600, "answer": 2400}
    seconds = {"plan": 0.0, "search": 5.0, "answer": 2.0}
    assert graph.longest(seconds) == (7.0, ("plan", "search", "answer"))
    found = routing(graph, 2)
    assert (graph.prefill, found.aware) == (5000, 2900)
    assert found.anywhere == 5000 - 2100 / 2  # as likely beside the plan as not


def test_a_document_that_one_of_seven_hops_reads():
    """(262,144 + 6 u) / u: 134 at 2,048, and 158 at a request of 1,725 tokens."""
    for user, ratio in ((2048, 134), (1724.6, 158)):
        user = round(user)
        hops = {f"h{n}": Call(user) for n in range(6)}
        graph = call_graph({**hops, "retrieval": Call(262_144)}, [])
        assert graph.prefill / user == pytest.approx(ratio, rel=1e-3)


def test_operations_grow_faster_than_tokens():
    short, long = (chain([n]).operations("llama-3-70b") for n in (1000, 2000))
    assert chain([1000, 1000]).operations("llama-3-70b") == short + long
    assert long > 2 * short


def test_quantities_keep_their_derivation():
    user = chosen(100, label="tokens of a request")
    graph = call_graph({"a": Call(user, 10), "b": Call(5)}, [("a", "b", ALL)])
    assert (graph.prefill / user).text(digits=3) == "2.15"
    assert graph.held("b") == 115


@given(graphs(), st.data())
@settings(max_examples=60)
def test_the_sum_is_what_prefix_trees_count(graph, data):
    many = len(graph.before)
    placed = data.draw(st.lists(st.integers(0, 2), min_size=many, max_size=many))
    assert graph.computed(placed) == counted(graph, placed)
    together = [0] * many
    assert graph.computed(together) <= graph.computed(placed) <= graph.prefill


@given(graphs())
@settings(max_examples=40)
def test_the_longest_path_is_the_longest_of_all(graph):
    seconds = {name: float(len(name) + call.own) for name, call in graph.calls.items()}
    net = networkx.DiGraph()
    net.add_nodes_from(graph.before)
    for name, earlier in graph.before.items():
        for each in earlier:
            net.add_edge(each, name)
    total, path = graph.longest(seconds)
    assert total == sum(seconds[name] for name in path)
    every = (
        sum(seconds[name] for name in way)
        for a, b in product(net, net)
        for way in ([[a]] if a == b else networkx.all_simple_paths(net, a, b))
    )
    assert total == max(every)


def chain_computed(steps, r):
    """Mean tokens read by calls that each go on from the last, placed by chance.

    With r replicas a call finds the context of j calls before it, and not a later one,
    with probability (1/r) (1 - 1/r)^(j - 1).
    """
    contexts = [*accumulate(steps)]
    found = (
        earlier / r * (1 - 1 / r) ** back
        for call in range(len(steps))
        for back, earlier in enumerate(reversed(contexts[:call]))
    )
    return sum(contexts) - sum(found)


@pytest.mark.parametrize("steps", [[5], [3, 4], [100, 1, 1, 1], [7, 2, 9, 4, 1]])
@pytest.mark.parametrize("replicas", [1, 2, 4])
def test_a_chain_placed_by_chance_has_a_closed_form(steps, replicas, monkeypatch):
    found = routing(chain(steps), replicas)
    assert found.anywhere == pytest.approx(chain_computed(steps, replicas))
    assert found.aware == sum(steps)
    assert found.recovered == pytest.approx(1 - sum(steps) / found.anywhere)
    monkeypatch.setattr(module, "ENUMERATED", 0)  # drawn instead
    assert routing(chain(steps), replicas).anywhere == pytest.approx(
        found.anywhere, rel=0.05
    )


def test_a_cache_does_not_cross_models():
    same, other = chain([10] * 4), chain([10] * 4, models=("a", "b", "c", "d"))
    assert routing(same, 4).recovered > 0.4
    assert routing(other, 4).recovered == 0
    # Every second call finds what the one before the last left.
    turns = chain([10] * 4, models=("a", "b"))
    assert routing(turns, 1).aware == 10 + 20 + 20 + 20


@pytest.mark.parametrize(
    ("nodes", "edges", "words"),
    [
        ({}, [], "at least one"),
        ({"a": Call(1), "b": Call(1)}, [("a", "b"), ("b", "a")], "circle never ends: "),
        ({"a": Call(1)}, [("a", "a")], "a waits for a"),
        ({"a": Call(1), "b": Call(1)}, [("a", "b")] * 2, "a to b is given twice"),
        ({"a": Call(1), "b": Call(1)}, [("a", "b", "some")], "hands on 'some'"),
        ({"a": Call(1), "b": Call(1)}, ["ab"], "edge 'ab'"),
        ({"a": Call(-1)}, [], "own tokens of a = -1"),
        ({"a": Call(1, math.nan)}, [], "written tokens of a = nan"),
        ({"a": Call(1.5)}, [], "own tokens of a = 1.5"),
        ({"a": Call(True)}, [], "own tokens of a = True"),
        ({"a": Call(0)}, [], "a reads no tokens"),
        (
            {"a": Call(1), "b": Call(1), "c": Call(1)},
            [("a", "c", ALL), ("b", "c", ALL)],
            "c goes on from a and from b",
        ),
    ],
)
def test_bad_graphs_are_refused(nodes, edges, words):
    with pytest.raises(ValueError, match=words):
        call_graph(nodes, edges)


def test_unknown_calls_are_named_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean: planner"):
        call_graph({"planner": Call(1), "writer": Call(1)}, [("planer", "writer")])
    graph = chain([1, 1])
    with pytest.raises(ValueError, match="no seconds of h1"):
        graph.longest({"h0": 1.0})
    with pytest.raises(ValueError, match="seconds of h1 = nan"):
        graph.longest({"h0": 1.0, "h1": math.nan})
    with pytest.raises(ValueError, match="zip"):
        graph.computed([0])
    with pytest.raises(ValueError, match="replicas = 0"):
        routing(graph, 0)


def test_a_circle_names_all_that_are_in_it():
    calls = {name: Call(1) for name in "abcd"}
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "b")]
    with pytest.raises(ValueError, match="circle") as error:
        call_graph(calls, edges)
    assert {"b", "c", "d"} <= set(str(error.value).split())
    assert " a " not in str(error.value).removeprefix("a circle")
