"""A derivation survives its storing, and a moved leaf goes through it."""

import json

from hypothesis import given
from hypothesis import strategies as st

from stacklib import hardware, models, quantity
from stacklib.quantity.store import dump, load

H100 = hardware.get("h100-sxm")


def back(q: quantity.Quantity) -> quantity.Quantity:
    nodes, roots = dump({"q": q})
    return load(json.loads(json.dumps(nodes)))[roots["q"]]


small = st.integers(1, 50).map(lambda n: quantity.chosen(n, "GB", label=f"n{n}"))


def grow(parts):
    pair = st.tuples(parts, parts)
    return st.one_of(
        pair.map(lambda p: p[0] + p[1]),
        pair.map(lambda p: p[0] - p[1]),
        pair.map(lambda p: p[0] * (p[1] / quantity.chosen(3, "GB"))),
        pair.map(lambda p: quantity.maximum(*p)),
        pair.map(lambda p: quantity.minimum(*p).named("least")),
        pair.map(lambda p: quantity.where(p[0] < p[1], *p)),
        pair.map(lambda p: quantity.where(p[0].si > 5, *p)),
        parts.map(lambda p: p * quantity.ceil(p / quantity.chosen(2, "GB"))),
    )


@given(st.recursive(small, grow, max_leaves=12))
def test_what_is_read_back_derives_the_same(q):
    again = back(q)
    assert quantity.explain(again) == quantity.explain(q) and again.si == q.si
    assert again.tags == q.tags and again.tree() == q.tree()


def test_every_operation_and_leaf_is_read_back():
    run = quantity.counted(len, "abc", label="three")
    ratio = models.get("llama-3-70b").parameters / 1e9
    for q in (
        quantity.log2(ratio) + quantity.helpers.exp(quantity.chosen(2)),
        (run * 2) ** 2,
        -ratio,
        abs(-run),
        run,
        H100.memory_bandwidth.to("bit/s"),
        H100.memory_bandwidth.across(8),
        ratio * quantity.chosen(1, "MAC").to("FLOP"),
    ):
        assert back(q).tree() == q.tree()


def test_equal_subtrees_are_stored_once():
    time = quantity.chosen(140, "GB", label="weights") / H100.memory_bandwidth
    same = quantity.chosen(140, "GB", label="weights") / H100.memory_bandwidth
    nodes, roots = dump({"a": time, "b": same, "c": time + same})
    assert roots["a"] == roots["b"] and len(nodes) == 4


def test_a_moved_leaf_goes_through_the_stored_derivation():
    said = quantity.say(
        "t", a=(quantity.chosen(6.7, "TB") / H100.memory_bandwidth, "A time.")
    )
    nodes = list(map(json.loads, said.stored()["nodes"]))
    asked = []
    again = load(nodes, moved=lambda key, old: asked.append(key) or 2 * old)
    assert asked == ["h100-sxm.memory_bandwidth"]
    assert said.numbers["t.a"].text == "2 s" and again[-1].text() == "1 s"


def stored(q) -> float:
    """The value of a number's leaf, as a notebook has it."""
    nodes, roots = dump({"n": q})
    return nodes[roots["n"]]["si"]


def test_of_a_run_six_digits_are_stored_of_a_count_all():
    def run(value):
        return value

    assert stored(quantity.counted(run, 1234567.8)) == 1234570
    assert stored(quantity.counted(run, 1234567)) == 1234567
    in_ns = quantity.counted(run, 1234567, unit="ns")
    assert stored(in_ns) == in_ns.si
    assert stored(quantity.counted(run, 2 / 3, unit="ms")) == 0.000666667
