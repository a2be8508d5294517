"""What fusion saves, counted and run."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.kernels.launch.fuse import KERNELS, RULES, fuse
from stacklib.kernels.launch.fuse_graphs import (
    attention_graph,
    experts_graph,
    layernorm_graph,
)
from stacklib.kernels.launch.fuse_run import execute
from stacklib.kernels.launch.op_graph import Op, OpGraph, Tensor
from stacklib.quantity import UnknownName


def inputs(graph):
    """Random arrays for what no operation makes."""
    rng = np.random.default_rng(0)
    made = {op.output for op in graph.ops}
    return {
        name: rng.standard_normal(tensor.shape)
        for name, tensor in graph.tensors.items()
        if name not in made
    }


@settings(deadline=None, max_examples=30)
@given(
    tokens=st.sampled_from([1, 3, 16, 33]),
    rules=st.sets(st.sampled_from(RULES)),
    which=st.sampled_from(["attention", "experts", "layernorm"]),
)
def test_bytes_counted_are_the_bytes_that_cross_and_results_do_not_change(
    tokens, rules, which
):
    graph = {
        "attention": lambda: attention_graph(tokens=tokens, head_dim=8, hidden=24),
        "experts": lambda: experts_graph(
            tokens=tokens, hidden=12, inner=20, experts=4, top=2, capacity=tokens
        ),
        "layernorm": lambda: layernorm_graph(tokens, 40),
    }[which]()
    given_ = inputs(graph)
    plain, fused = fuse(graph, ()), fuse(graph, rules)
    apart, together = execute(graph, plain, given_), execute(graph, fused, given_)
    assert apart.moved == plain.unfused_bytes == plain.fused_bytes
    assert together.moved == fused.fused_bytes <= fused.unfused_bytes
    assert plain.launches == len(graph.ops)
    for name in graph.results:
        assert np.allclose(together.arrays[name], apart.arrays[name])
    for name in fused.unwritten:
        assert name not in together.arrays


def test_attention_leaves_the_scores_on_the_chip_only_with_online_softmax():
    graph = attention_graph(tokens=4096, head_dim=128, hidden=4096)
    plain, online = fuse(graph, KERNELS), fuse(graph, RULES)
    assert "s" not in plain.unwritten and "p" not in plain.unwritten
    assert {"s", "p.max", "p.exp", "p.sum", "p"} <= set(online.unwritten)
    square = 2 * 4096**2
    assert plain.fused_bytes - online.fused_bytes == 4 * square
    assert online.launches == 4
    assert ("q", "k", "v", "q.rope", "k.rope") in online.kernels


def test_the_result_is_attention():
    graph = attention_graph(tokens=5, head_dim=8, hidden=12)
    a = inputs(graph)
    x = a["x"] / np.sqrt((a["x"] ** 2).mean(-1, keepdims=True) + 1e-6) * a["gain"]
    q, k, v = (x @ a[f"w{n}"] for n in "qkv")

    def turn(y):
        return y * a["cos"] + np.concatenate((-y[:, 4:], y[:, :4]), 1) * a["sin"]

    p = np.exp(turn(q) @ turn(k).T)
    y = p / p.sum(-1, keepdims=True) @ v @ a["wo"] + a["x"]
    ran = execute(graph, fuse(graph, RULES), a)
    assert np.allclose(ran.arrays["y"], y)


def test_experts_gather_into_the_product_and_keep_both_factors():
    sizes = {"tokens": 64, "hidden": 32, "inner": 48, "experts": 8, "top": 2}
    graph = experts_graph(**sizes, capacity=64)
    fused = fuse(graph)
    assert ("sent", "a", "b", "act") in fused.kernels
    assert ("back", "weighed", "y") in fused.kernels
    a = inputs(graph)
    ran = execute(graph, fused, a).arrays
    p = np.exp(a["x"] @ a["gate"])
    p /= p.sum(-1, keepdims=True)
    y = np.zeros((64, 32))
    for token in range(64):
        for expert in np.argsort(-p[token])[:2]:
            left, right = (a["x"][token] @ a[w][expert] for w in ("w1", "w3"))
            out = (left / (1 + np.exp(-left)) * right) @ a["w2"][expert]
            y[token] += p[token, expert] * out
    assert np.allclose(ran["y"][:, 0], y)


def test_a_layer_norm_in_one_kernel_reads_once_and_writes_once():
    m, n = 300, 768
    fused = fuse(layernorm_graph(m, n, "fp32"))
    assert fused.launches == 1
    assert fused.seconds(2.0, 3.0) == fused.fused_bytes / 2 + 3
    assert fused.fused_bytes == 2 * m * n * 4 + 2 * n * 4
    full = fused.unfused_bytes / (m * n * 4)
    assert 12 < full < 12.1  # twelve crossings of the array, and the rows


def test_kernels_never_wait_for_each_other():
    # y needs x twice: directly, and through a sort that no kernel may hold.
    shape = Tensor((4, 4), "fp32")
    graph = OpGraph(
        dict.fromkeys(("x", "a", "b", "y"), shape),
        (
            Op("a", "elementwise", ("x",), np.negative),
            Op("b", "sort", ("a",), np.sort),
            Op("y", "elementwise", ("a", "b"), np.add),
        ),
        ("y",),
    )
    fused = fuse(graph)
    assert fused.kernels == (("a",), ("b", "y"))
    moved = execute(graph, fused, {"x": np.eye(4)})
    assert moved.moved == fused.fused_bytes


def small(ops, results="y", **shapes):
    """A graph whose operations are told as ``y = kind a b; z = ...``."""
    rows = [line.replace(" =", "").split() for line in ops.split("; ")]
    made = tuple(Op(name, kind, tuple(given)) for name, kind, *given in rows)
    return OpGraph({n: Tensor(s) for n, s in shapes.items()}, made, (results,))


CYCLE = "y = elementwise z; z = elementwise y"
TWICE = "y = elementwise a; y = elementwise a"


@pytest.mark.rows(
    ("graph", "words"),
    [
        (small(CYCLE, y=(2,), z=(2,)), "a cycle among y, z"),
        (small("y = elementwise querry", y=(2,), query=(2,)), "query"),
        (small("y = elementwise a b", y=(2,), a=(2,), b=(3,)), "do not meet"),
        (small("y = matmul a b", y=(2, 2), a=(2, 3), b=(2, 2)), "inner sizes"),
        (
            small("y = matmul a b", y=(2, 3), a=(2, 3), b=(3, 2)),
            r"\(2, 2\), not \(2, 3\)",
        ),
        (small("y = reduction a", y=(2, 2), a=(2, 3)), "one axis becomes 1"),
        (small("y = gather a i", y=(5, 4), a=(9, 3), i=(5,)), "not"),
        (small("y = elementwize a", y=(2,), a=(2,)), "elementwise"),
        (small(TWICE, y=(2,), a=(2,)), "made twice"),
        (small("y = elementwise a", results="w", y=(2,), a=(2,)), "w"),
        (small("y = matmul a", y=(2,), a=(2,)), "1 inputs"),
    ],
)
def test_graphs_that_make_no_sense_are_refused(graph, words):
    unknown = words in ("query", "elementwise", "w")
    with pytest.raises(UnknownName if unknown else ValueError, match=words):
        fuse(graph)


def test_an_unknown_rule_and_a_wrong_array_are_refused():
    graph = layernorm_graph(2, 4)
    with pytest.raises(UnknownName, match="online"):
        fuse(graph, ("onlin-softmax",))
    wrong = inputs(graph) | {"x": np.zeros((3, 4))}
    with pytest.raises(ValueError, match=r"'x' came out as \(3, 4\)"):
        execute(graph, fuse(graph), wrong)
    bare = replace(graph, ops=tuple(replace(op, run=None) for op in graph.ops))
    with pytest.raises(ValueError, match="counted, not executed"):
        execute(bare, fuse(bare), inputs(bare))
