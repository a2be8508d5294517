"""A learning curve is framed by its losses and drawn as measured."""

from stacklib.pages.models.tiny.figures import learning_spec
from stacklib.plots import spec

CURVES = {
    "tiny": {"tokens": [1000, 2000, 3000], "held_out": [4.0, 3.5, 3.2]},
    "draft": {"tokens": [1000, 2000, 3000], "held_out": [4.2, 3.9, 3.8]},
}


def test_every_loss_is_in_the_frame_and_zero_is_not():
    made = learning_spec(CURVES, title="It falls.", levels={"a 5-gram": 3.6})
    spec.check(made)
    low, high = made["y"]["limits"]
    assert 3 < low < 3.2 and high > 4.2
    kinds = [(m["name"], m["kind"]) for m in made["marks"]]
    assert kinds == [("tiny", "dots"), ("draft", "dots"), ("a 5-gram", "hline")]
    assert {m["evidence"] for m in made["marks"]} == {"measured"}


def test_a_curve_stands_without_levels():
    made = learning_spec({"tiny": CURVES["tiny"]}, title="It falls.")
    spec.check(made)
    assert len(made["marks"]) == 1
