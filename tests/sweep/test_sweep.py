"""Grids and sweeps: order, progress, bad input."""

import os

import pytest

from stacklib import sweep


def square(x, y):
    return x * x + y


def test_last_axis_varies_fastest():
    cases = list(sweep.grid(x=[1, 2], y=[0, 5]))
    assert [(c["x"], c["y"]) for c in cases] == [(1, 0), (1, 5), (2, 0), (2, 5)]


def test_bad_input_raises():
    with pytest.raises(ValueError, match="axis 'y' has no values"):
        list(sweep.grid(x=[1], y=[]))
    with pytest.raises(ValueError, match="workers = 0"):
        sweep.run(square, [], workers=0)


def test_it_runs_here_unless_told():
    assert sweep.run(os.getpid, [{}]) == [os.getpid()]


def test_progress_counts_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert list(sweep.progress([1, 2], 2, "runs")) == [1, 2]
    half, whole = f"{'█' * 10:20}", "█" * 20
    assert capsys.readouterr().err == f"\rruns {half} 1/2\rruns {whole} 2/2\n"
    # one worker is this process: what cannot be sent to another runs
    assert sweep.run(lambda x: x + 1, [{"x": 1}]) == [2]
