"""Continuous against static batches: what runs."""

import importlib


def test_both_policies_make_the_same_tokens_in_the_steps_of_slots():
    bench = importlib.import_module("engine")
    result = bench.measure(requests=4, rounds=1)
    still, moving = result["rows"]
    assert still["tokens"] == moving["tokens"] == sum(bench.lengths(4))
    assert all(row["steps"] == row["steps_of_slots"] for row in result["rows"])
