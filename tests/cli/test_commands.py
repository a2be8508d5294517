"""Every command: help, JSON, exit status, and errors that name value and fix."""

import json
import subprocess
import sys

import pytest

from stacklib import cli
from stacklib.evidence import ledger

FIT = ["fit", "llama-3-70b", "--on", "h100-sxm", "--dtype", "bf16"]


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_has_help(command, capsys):
    kind = ["device"] if command == "new" else []
    assert cli.main([command, *kind, "--help"]) == 0
    assert "--json" in capsys.readouterr().out


def test_fit_answers_with_the_sum_and_its_status(run):
    status, out, _ = run(*FIT)
    assert status == 1
    assert "142.4 GB > 80 GB" in out
    status, out, _ = run(*FIT, "--tp", "2")
    assert status == 0
    assert "71.22 GB <= 80 GB" in out


def test_fit_json_holds_the_promised_fields(run):
    status, out, _ = run(*FIT, "--tp", "2", "--reserve", "9", "--json")
    found = json.loads(out)
    assert status == 1 and found["fits"] is False
    need = (found["weights_bytes"] + found["kv_bytes"]) / 2 + found["reserve_bytes"]
    assert found["need_bytes_per_chip"] == need > found["have_bytes_per_chip"]


def test_fit_says_what_the_copies_of_engines_add(run):
    crowd = ["--tp", "8", "--batch", "256", "--context", "8192", "--dtype", "e4m3fn"]
    status, out, _ = run("fit", "deepseek-v3", "--on", "h200", *crowd)
    promised, copies = out.splitlines()[1:]
    assert status == 0 and "93.09 GB <= 141 GB" in promised
    assert "157.6 GB > 141 GB" in copies
    _, out, _ = run("fit", "deepseek-v3", "--on", "h200", *crowd, "--json")
    assert json.loads(out)["fits"] and not json.loads(out)["fits_with_copies"]


@pytest.mark.parametrize("command", [FIT, ["roofline", "b200", "--model", "gpt2-xl"]])
def test_a_context_beyond_the_model_is_said_and_not_refused(run, command):
    for context, beyond in (("1024", False), ("1000000", True)):
        status, out, _ = run(*command, "--context", context)
        assert status in (0, 1) and ("beyond the" in out) is beyond
        _, out, _ = run(*command, "--context", context, "--json")
        assert json.loads(out)["beyond_model"] is beyond


@pytest.mark.parametrize(
    "argv, says",
    [
        (["specs", "h10O-sxm"], "did you mean: h100_sxm"),
        (["specs", "hopper"], "did you mean: gh200, gh200_96gb, h100_hbm2e_96gb"),
        (["specs", "nosuch"], "unknown device 'nosuch'\nknown: a10, "),
        (["formats", "half"], "did you mean: fp16, bf16"),
        (["formats", "mx4"], "did you mean: mxfp4"),
        (["formats", "nosuch"], "unknown format or scheme 'nosuch'\nknown: "),
        (["models", "nosuch"], "unknown model 'nosuch'\nknown: "),
        (["links", "infiniband"], "did you mean: ib_hdr, ib_ndr, ib_xdr"),
        (["claims", "h100-rigde-295"], "nearest: h100-ridge-295"),
        (["measure", "--josn"], "did you mean: --json"),
        (["fit", "llama-3-70c", "--on", "h100"], "did you mean: llama-3-70b"),
        ([*FIT, "--batch", "nan"], "'nan': a whole number"),
        ([*FIT, "--batch", "-1"], "batch = -1"),
        ([*FIT, "--batch", "0"], "batch = 0"),
        ([*FIT, "--batch", "1e9999"], "'1e9999'"),
        ([*FIT, "--context", "-5"], "context = -5"),
        ([*FIT, "--tp", "3"], "does not divide the 64 heads"),
        ([*FIT, "--reserve", "nan"], "'nan': a number of GB"),
        ([*FIT, "--reserve", "-1"], "'-1': a number of GB"),
        (["fit", "llama-3-70b", "--on", "h100", "--dtype", "bf61"], "'bf61'"),
        (["fit", "llama-3-70b"], "--on"),
        (["rooflin"], "did you mean: roofline"),
        (["roofline", "t4", "--model", "qwen3-0.6b"], "publishes no bf16 rate"),
        *(
            (["fit", "llama-3-8b", "--on", "h100", "--dtype", name], f"mean: {near}")
            for name, near in (("fp3", "fp32"), ("fp1", "fp16"), ("b", "bnb_nf4, bf16"))
        ),
        (["claims", "no-such-claim"], "no-such-claim"),
        (["claims", "--verdict", "maybe"], "maybe"),
        (["claims", "--chapter", "11"], "11"),
    ],
)
def test_bad_input_ends_with_status_2_and_no_number(argv, says, run):
    status, out, err = run(*argv)
    assert status == 2
    assert says in err
    assert out == ""


def test_bad_input_with_json_is_json(run):
    status, out, _ = run("specs", "h10O-sxm", "--json")
    assert status == 2
    assert "h100_sxm" in json.loads(out)["error"]


def test_roofline_prints_ridges_and_a_step(run):
    status, out, _ = run("roofline", "h100")
    assert status == 0 and "295 FLOP/B" in out
    argv = ["roofline", "h100", "--model", "llama-3-70b", "--tp", "2"]
    status, out, _ = run(*argv, "--explain")
    assert status == 0
    assert "20.9 ms" in out and "none: a limit" in out and "[1]" in out
    status, out, _ = run(*argv, "--json")
    assert json.loads(out)["time_s"] == pytest.approx(0.02095, rel=1e-3)


def test_what_does_not_fit_gets_no_speed(run):
    argv = ["roofline", "h100", "--model", "llama-3-70b", "--json"]
    status, out, _ = run(*argv)
    found = json.loads(out)
    assert status == 1
    assert found["fits"] is False and "time_s" not in found


def test_specs_show_sources_and_the_audit_adds_up(run):
    _, out, _ = run("specs", "a100")
    assert "unknown" in out and "inherited" in out
    _, out, _ = run("specs", "--audit", "--json")
    found = json.loads(out)
    known = found["own source"] + found["inherited"]
    assert found["fields"] == known + found["unknown"]
    assert sum(found["confidence"].values()) == known
    assert {"inherited", "secondary"} < set(found["ports"])
    assert abs(found["worst"][0]["gap"]) <= 0.02 < 1 < len(found["inconsistent"])
    _, out, _ = run("specs", "--json")
    assert len(json.loads(out)["devices"]) == found["devices"] >= 110


def test_the_audit_of_one_device_names_its_contradiction(run):
    _, out, _ = run("specs", "h20", "--audit")
    assert "peak.fp32" in out and "would need 2.2 GHz" in out
    assert "pins x rate" in out and "own source" in out


def test_claims_are_filtered_counted_and_explained(run):
    _, out, _ = run("claims", "--chapter", "1", "--json")
    found = json.loads(out)
    own = [c for c in ledger.load() if c.chapter == 1]
    assert len(found["claims"]) == sum(found["counts"].values()) == len(own)
    _, out, _ = run("claims", "decode-wait-share")
    assert "close" in out and "H200" in out and "[1]" in out
    _, out, _ = run("claims", "decode-wait-share", "--json")
    assert json.loads(out)["verdict"] == "close"


def test_doctor_says_what_each_piece_is_for(run):
    status, out, _ = run("doctor")
    assert status == 0 and "GPU kernels" in out
    status, out, _ = run("doctor", "--json")
    assert "numpy" in json.loads(out)["packages"]


def test_no_command_prints_help_and_fails(run):
    status, out, _ = run()
    assert status == 2
    assert all(name in out for name in cli.COMMANDS)


def test_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "stacklib", *FIT], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "does not fit" in done.stdout


def test_measure_levels_prints_what_it_found_and_what_is_reported(run, monkeypatch):
    from stacklib.roofline.host import streams
    from stacklib.roofline.host.streams import StreamPoint

    ends = [(2**s, 4e11 if s < 16 else 3e10) for s in range(12, 22)]
    points = tuple(StreamPoint("triad", 1, s, s, (s / r,)) for s, r in ends)
    monkeypatch.setattr(streams, "sweep", lambda **_: points)
    status, out, _ = run("measure", "--levels")
    assert status == 0
    assert "400 GB/s until" in out and "30 GB/s beyond" in out and "reported" in out
    status, out, _ = run("measure", "--levels", "--json")
    assert [round(p["bytes_per_s"]) for p in json.loads(out)["found"]] == [4e11, 3e10]
