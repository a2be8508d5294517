"""Result files: found, missing, malformed."""

import copy
import json

import pytest

from stacklib.evidence import results

GOOD = {
    "kind": "host",
    "device": "a CPU",
    "driver": "none",
    "clocks": "unknown",
    "versions": {"python": "3.11"},
    "date": "2026-11-21",
    "prediction": {"file": "p.json", "sha256": "0" * 64},
    "rows": [{"n": 4, "times_s": [0.1, 0.2]}],
}


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    monkeypatch.setenv("STACKLIB_ROOT", str(tmp_path))
    folder = tmp_path / "benchmarks" / "results"
    folder.mkdir(parents=True)
    return lambda text: (folder / "host.json").write_text(text)


def test_a_good_file_is_read(checkout):
    checkout(json.dumps(GOOD))
    assert results.load("host") == GOOD


def test_a_missing_file_is_none(checkout):
    assert results.load("gpu") is None


@pytest.mark.parametrize("field", GOOD)
def test_a_missing_field_is_named(checkout, field):
    checkout(json.dumps({k: v for k, v in GOOD.items() if k != field}))
    with pytest.raises(results.ResultError, match=field):
        results.load("host")


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ([], "rows[0].times_s"),
        ([0.0], "0.0"),
        ([-1], "-1"),
        (["fast"], "fast"),
        ([True], "True"),
        (None, "rows[0].times_s"),
    ],
)
def test_a_time_that_is_none_is_named(checkout, times, says):
    bad = copy.deepcopy(GOOD)
    bad["rows"][0]["times_s"] = times
    checkout(json.dumps(bad))
    with pytest.raises(results.ResultError) as caught:
        results.load("host")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("date", "yesterday"), ("rows", "none"), ("prediction", {"file": "p"})],
)
def test_a_field_of_the_wrong_form_is_named(checkout, field, value):
    checkout(json.dumps({**GOOD, field: value}))
    with pytest.raises(results.ResultError, match=field):
        results.load("host")


def test_what_is_not_json_is_refused(checkout):
    checkout("{")
    with pytest.raises(results.ResultError, match="not JSON"):
        results.load("host")


@pytest.mark.rows("name", ["../host", "", "a/b"])
def test_a_name_is_a_file_name(name):
    with pytest.raises(results.ResultError):
        results.load(name)
