"""A learning curve is framed by its losses and drawn as measured."""

from stacklib.pages.models.tiny import measured
from stacklib.pages.models.tiny.figures import learning_spec
from stacklib.plots import spec

CURVES = {name: measured.curve(name) for name in ("tiny", "draft")}
LOSSES = [q.si for columns in CURVES.values() for q in columns["held_out"]]


def test_every_loss_is_in_the_frame_and_zero_is_not():
    told = measured.of_quality("held_out", "kneser_ney_on_curve", "1", "a 5-gram's")
    made = learning_spec(CURVES, title="It falls.", levels={"a 5-gram": told})
    spec.check(made)
    low, high = made["y"]["limits"]
    assert 0 < low < min(LOSSES) and high > max(LOSSES)
    kinds = [(m["name"], m["kind"]) for m in made["marks"]]
    assert kinds == [("tiny", "dots"), ("draft", "dots"), ("a 5-gram", "hline")]
    assert {m["evidence"] for m in made["marks"]} == {"measured"}


def test_a_curve_stands_without_levels():
    made = learning_spec({"tiny": CURVES["tiny"]}, title="It falls.")
    spec.check(made)
    assert len(made["marks"]) == 1
