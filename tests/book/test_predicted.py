"""A prediction is in the history before its measurement, or the check says why not."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from _tools import predicted, tree

RESULT, PREDICTION = "benchmarks/results/a.json", "benchmarks/predictions/a.json"


def test_our_predictions_came_before_our_measurements():
    order = predicted.check()
    if order.not_run:
        pytest.skip(f"prediction order: not run ({order.not_run})")
    assert order.faults == (), "\n".join(order.faults)


WHO = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")


class Checkout:
    """A repository in which a prediction and its result are written and committed."""

    def __init__(self, root: Path):
        self.root = root
        self.git("init", "-q")

    def git(self, *words: str) -> str:
        env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": ""}
        command = ["git", "-C", str(self.root), *WHO, *words]
        done = subprocess.run(
            command, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, path: str, content: object) -> bytes:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
        return file.read_bytes()

    def predict(self, milliseconds: float) -> str:
        return predicted.sha256(self.write(PREDICTION, {"ms": milliseconds}))

    def measure(self, sha: str, *times: float) -> None:
        rows = [{"case": n, "times_s": [time]} for n, time in enumerate(times)]
        prediction = {"file": PREDICTION, "sha256": sha}
        self.write(RESULT, {"prediction": prediction, "rows": rows})

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a step")

    def faults(self) -> tuple[str, ...]:
        order = predicted.check(self.root)
        assert (order.checked, order.not_run) == (1, "")
        return order.faults


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    (tmp_path / "repo").mkdir()
    made = Checkout(tmp_path / "repo")
    made.commit()
    return made


def test_predicted_then_measured_passes(checkout: Checkout):
    sha = checkout.predict(21.1)
    checkout.commit()
    checkout.measure(sha, 1.0, 2.0)
    assert checkout.faults() == ()  # measured, not committed yet
    checkout.commit()
    assert checkout.faults() == ()


def test_measuring_again_after_a_new_prediction_passes(checkout: Checkout):
    for value in (21.1, 20.0):
        sha = checkout.predict(value)
        checkout.commit()
        checkout.measure(sha, value)
        checkout.commit()
    assert checkout.faults() == ()


def test_committed_together_is_a_fault(checkout: Checkout):
    checkout.measure(checkout.predict(21.1), 1.0)
    checkout.commit()
    (fault,) = checkout.faults()
    assert fault.startswith(f"{RESULT}: measured in ")
    assert f"but {PREDICTION} was first committed in" in fault


def test_committed_after_is_a_fault(checkout: Checkout):
    checkout.measure(predicted.sha256(b'{"ms": 1.0}'), 1.0)
    checkout.commit()
    checkout.predict(1.0)
    checkout.commit()
    (fault,) = checkout.faults()
    assert "not before it" in fault


def test_editing_a_row_later_does_not_hide_the_order(checkout: Checkout):
    sha = checkout.predict(21.1)
    checkout.measure(sha, 1.0, 2.0)
    checkout.commit()
    checkout.measure(sha, 1.5, 2.5)
    checkout.commit()
    assert "not before it" in checkout.faults()[0]


def test_renaming_a_result_later_does_not_hide_the_order(checkout: Checkout):
    checkout.measure(checkout.predict(21.1), 1.0)
    checkout.commit()
    checkout.git("mv", RESULT, "benchmarks/results/b.json")
    checkout.commit()
    assert "not before it" in checkout.faults()[0]


def test_a_prediction_changed_afterwards_is_a_fault(checkout: Checkout):
    sha = checkout.predict(21.1)
    checkout.commit()
    checkout.measure(sha, 1.0)
    checkout.commit()
    checkout.predict(1.0)
    (fault,) = checkout.faults()
    assert f"{PREDICTION} is not the prediction it was measured against" in fault


def test_a_prediction_that_was_never_committed_is_a_fault(checkout: Checkout):
    checkout.measure(checkout.predict(21.1), 1.0)
    assert "was never committed" in checkout.faults()[0]


def test_a_result_without_a_prediction_is_a_fault(checkout: Checkout):
    checkout.write(RESULT, {"prediction": {}, "rows": []})
    assert checkout.faults() == (f"{RESULT}: names no prediction file and hash",)


def test_only_ceilings_need_no_prediction_and_they_say_why(checkout: Checkout):
    reason = {"prediction": None, "why_no_prediction": "predictions start from it"}
    checkout.write("benchmarks/results/host_roofline.json", reason)
    assert checkout.faults() == ()
    checkout.write("benchmarks/results/host_roofline.json", {"prediction": None})
    assert "names no prediction" in checkout.faults()[0]
    (checkout.root / "benchmarks/results/host_roofline.json").unlink()
    checkout.write(RESULT, reason)
    assert "names no prediction" in checkout.faults()[0]


def test_a_shallow_clone_says_that_it_cannot_know(checkout: Checkout, tmp_path: Path):
    checkout.measure(checkout.predict(21.1), 1.0)
    checkout.commit()
    clone = tmp_path / "clone"
    checkout.git("clone", "-q", "--depth=1", f"file://{checkout.root}", str(clone))
    assert predicted.check(clone).not_run == "shallow clone"


def test_a_tree_without_git_says_that_it_cannot_know(tmp_path: Path):
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    (tmp_path / RESULT).write_text("{}")
    assert predicted.check(tmp_path).not_run
    assert tree.git(tmp_path / "benchmarks", "no-such-command") is None
