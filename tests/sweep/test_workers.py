"""Workers: equal answers in order from one, two and a cluster; who dies is named."""

import math
import os
import signal
import time

import joblib
import pytest

from stacklib import sweep

CASES = [{"n": n} for n in range(40)]


def root(n):
    return math.sqrt(n)


def dies(n):
    if n == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return n


def refuses(n):
    if n == 7:
        raise ValueError("seven")
    return n


def held():
    """One process and two agree, and what breaks is named, on the present backend."""
    here = sweep.run(root, CASES)
    assert here == [math.sqrt(n) for n in range(40)]
    assert sweep.run(root, CASES, workers=2) == here
    with pytest.raises(ValueError, match="seven") as why:
        sweep.run(refuses, CASES, workers=2)
    assert why.value.__notes__ == ["in the case {'n': 7}"]
    with pytest.raises(RuntimeError, match="a worker died") as why:
        sweep.run(dies, CASES, workers=2)
    assert "{'n': 7}" in str(why.value)


def test_two_processes():
    held()


def test_threads_answer_in_order():
    with joblib.parallel_config(backend="threading"):
        assert sweep.run(root, CASES, workers=2) == sweep.run(root, CASES)


def test_one_process_names_its_case():
    with pytest.raises(ValueError) as why:
        sweep.run(refuses, CASES)
    assert why.value.__notes__ == ["in the case {'n': 7}"]


@pytest.mark.slow
def test_two_workers_of_a_cluster():
    try:
        from distributed import Client, LocalCluster
    except ImportError as why:
        pytest.skip(f"dask: not run ({why}; it is the extra `cluster`)")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster):
        with joblib.parallel_config(backend="dask"):
            held()
