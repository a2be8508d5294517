"""The clock beside the prediction, with a clock that ticks evenly."""

import itertools

import pytest

from stacklib import models, roofline
from stacklib.roofline.count import operations
from stacklib.roofline.count.block_time import time_block

SHAPE = {
    "model_type": "llama",
    "vocab_size": 9,
    "hidden_size": 16,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 1,
    "intermediate_size": 20,
    "max_position_embeddings": 64,
}


def tick():
    count = itertools.count()
    return lambda: 0.001 * next(count)


def test_every_operation_is_timed_and_predicted():
    model = models.from_hf_config(SHAPE)
    rows = time_block(model, 6, on="this_machine", clock=tick())
    listed = operations.block_operations(model, 6, dtype="fp64", rule="steps")
    for row in rows:
        mine = [op for op in listed if op.kind == row.kind]
        # one tick from start to end of each operation
        assert row.measured.si == pytest.approx(0.001 * len(mine))
        bounds = [roofline.bound_on(op, "this_machine").time.si for op in mine]
        assert row.predicted.si == pytest.approx(sum(bounds))
        assert row.operations.si == sum(op.operations.si for op in mine)
    assert sum(r.measured.si for r in rows) == pytest.approx(0.001 * len(listed))


@pytest.mark.rows(
    ("change", "message"),
    [
        ({"repeats": 0}, "repeats = 0"),
        ({"tokens": 0}, "tokens = 0"),
        ({"on": "tpu-v5p"}, "fp64"),
    ],
)
def test_bad_input_raises(change, message):
    case = {"tokens": 2, **change}
    with pytest.raises((ValueError, LookupError), match=message):
        time_block(models.from_hf_config(SHAPE), **case)
