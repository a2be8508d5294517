"""``stacklib rig`` and ``plan --budget``: 0 fine, 1 the answer is no, 2 bad input."""

import json

import pytest

from stacklib.hardware.nvidia_smi import smi_sample
from stacklib.interconnect.networks.read_topo import topo_sample

MODEL = "qwen3-14b:q4_k_m"


@pytest.fixture
def riser(tmp_path):
    """A file with nvidia-smi's output."""
    path = tmp_path / "smi.txt"
    path.write_text(smi_sample("rtx4090_riser"), "utf-8")
    return str(path)


def test_a_rig_is_told_and_what_would_disprove_it(run, riser):
    status, out, _ = run("rig", riser, "--run", MODEL)
    assert status == 1 and "link-lanes, broken" in out
    assert "pcie.link.gen.max" in out and "as fast" in out
    status, out, _ = run("rig", riser, "--run", MODEL, "--json")
    told = json.loads(out)
    assert status == 1 and told["cards"][0]["most"] == [4, 16]
    assert told["findings"][0]["rule"] == "link-lanes"


def test_a_table_as_powershell_writes_it_and_what_a_prompt_gains(run, tmp_path):
    head = "name, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, "
    head += "pcie.link.width.max, utilization.gpu [%], power.limit [W]\n"
    cards = "".join(
        f"NVIDIA GeForce RTX 3090, 4, 4, {n}, 16, 97 %, 350.00 W\n" for n in (16, 4)
    )
    path = tmp_path / "smi.csv"
    path.write_text(head + cards, "utf-16")
    told = ("rig", str(path), "--run", MODEL, "--split", "tensors")
    status, out, _ = run(*told)
    assert status == 1 and "a prompt 1." in out
    finding = json.loads(run(*told, "--json")[1])["findings"][0]
    assert finding["prompt_after"] > 1.2 * finding["prompt_now"]


def test_a_rig_that_runs_as_it_should(run, tmp_path):
    text = smi_sample("rtx4090_riser").replace(": 8x", ": 16x")
    path = tmp_path / "smi.txt"
    gen = "Current                   : "
    path.write_text(text.replace(f"{gen}3", f"{gen}4"), "utf-8")
    status, out, _ = run("rig", str(path), "--run", MODEL)
    assert status == 0 and out.endswith("every card runs as it should\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hello", "none of nvidia-smi"),
        (topo_sample("four_cards"), "nothing to read"),
        ("NVSMI LOG\n", "NVSMI"),
    ],
)
def test_bad_rigs(run, tmp_path, text, says):
    path = tmp_path / "x.txt"
    path.write_text(text, "utf-8")
    status, _, err = run("rig", str(path))
    assert status == 2 and says in err


def test_a_second_output_of_one_kind_is_refused(run, riser):
    status, _, err = run("rig", riser, riser)
    assert status == 2 and "second output" in err


def test_a_budget_that_runs_it(run):
    told = ("plan", "--budget", "4000", "--run", MODEL, "--most", "1")
    status, out, _ = run(*told)
    assert status == 0 and "tokens/s" in out and "llama-bench" in out
    status, out, _ = run(*told, "--json")
    machine = json.loads(out)["machines"][0]
    assert sum(row["dollars"] for row in machine["bill"]) == machine["dollars"] <= 4000
    assert machine["runs"][0]["low"] < machine["runs"][0]["tokens_per_s"]


def test_a_budget_that_does_not(run):
    status, out, _ = run("plan", "--budget", "900", "--run", "llama-3-70b:q4_k_m")
    assert status == 1 and "the nearest has" in out


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--budget", "4000"), "--run"),
        (("--budget", "-4000", "--run", MODEL), "budget"),
        (("--budget", "nan", "--run", MODEL), "budget"),
        (("--budget", "4000", "--run", "llama-9"), "llama-9"),
        (("--budget", "4000", "--run", MODEL, "--market", "mars"), "us"),
    ],
)
def test_bad_budgets(run, flags, says):
    status, _, err = run("plan", *flags)
    assert status == 2 and says in err


def test_a_file_that_is_too_long_is_refused_and_never_cut(tmp_path):
    from stacklib.cli.arguments import text_of

    (tmp_path / "long.txt").write_text("x" * 11)
    assert len(text_of(str(tmp_path / "long.txt"), 11, "give less")) == 11
    with pytest.raises(ValueError, match="longer than 10 characters; give less"):
        text_of(str(tmp_path / "long.txt"), 10, "give less")
