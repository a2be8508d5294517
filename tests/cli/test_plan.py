"""``stacklib plan --verify``: 0 holds, 1 a rule is broken, 2 bad input."""

import io
import json

import pytest

from ..typed import BUILD


@pytest.fixture
def build(tmp_path):
    """Writes a build and gives its path."""

    def write(text: str) -> str:
        path = tmp_path / "build.toml"
        path.write_text(text, "utf-8")
        return str(path)

    return write


def test_a_build_that_holds(run, build):
    status, out, _ = run("plan", "--verify", build(BUILD))
    assert status == 0 and out.endswith("0 broken, 0 undecided\n")


def test_a_broken_rule_says_its_sum_and_its_mend(run, build):
    path = build(BUILD.replace("8 x ksm32r_32", "4 x ksm32r_32"))
    status, out, _ = run("plan", "--verify", path)
    assert status == 1
    assert "all channels: 8 > modules: 4 x 1 = 4" in out
    assert "mend: memory: 8 x Kingston" in out
    status, out, _ = run("plan", "--verify", path, "--json")
    (found,) = json.loads(out)["findings"]
    assert status == 1 and found["rule"] == "channels" and found["mend"]["dollars"] > 0
    assert found["sources"]
    status, out, _ = run("plan", "--verify", path, "--csv")
    assert status == 1 and out.startswith("rule,verdict,says,sum")


def test_an_undecided_rule_does_not_pass(run, build):
    status, out, _ = run("plan", "--verify", build(BUILD.replace("3090", "3080")))
    assert status == 1 and "undecided" in out and "length) is unknown" in out


def test_standard_input_is_read(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(BUILD))
    assert run("plan", "--verify", "-")[0] == 0


@pytest.mark.parametrize(
    "text, flags, says",
    [
        (BUILD.replace("epyc_7302", "epyc_7303"), (), "did you mean: epyc_7302"),
        (BUILD.replace("cpu", "cpus"), (), "unknown field of a build 'cpus'"),
        ("gpus = [", (), "no build in TOML"),
        (BUILD, ("--mains", "nan"), "mains = nan"),
        (BUILD, ("--mains", "12"), "mains = 12.0"),
        (BUILD, ("--continuous", "2"), "continuous = 2.0"),
    ],
)
def test_bad_input_names_it(run, build, text, flags, says):
    status, _, err = run("plan", "--verify", build(text), *flags)
    assert status == 2 and says in err


def test_a_file_that_is_not_there(run, tmp_path):
    status, _, err = run("plan", "--verify", str(tmp_path / "none.toml"))
    assert status == 2 and "No such file" in err
