"""``stacklib collective`` and ``stacklib topo``: answers, forms, and bad input."""

import json

import pytest

from stacklib.interconnect.networks.read_topo import topo_sample
from stacklib.interconnect.selection.machine import fabric
from stacklib.interconnect.selection.timed import collective_time

COMMAND = ("collective", "all-reduce", "--ranks", "8", "--on", "h100-sxm")


def test_a_collective_is_timed_with_what_was_chosen(run):
    status, out, _ = run(*COMMAND, "--size", "64MiB", "--json")
    found = json.loads(out)
    told = collective_time("all_reduce", 1 << 26, fabric("h100_sxm", 8))
    assert status == 0 and found["algorithm"] == "nvls"
    assert found["size_bytes"] == 1 << 26 and found["time_s"] == told.time
    parts = found["alpha_s"] + found["beta_s_per_byte"] * (1 << 26) + found["fill_s"]
    assert parts == pytest.approx(found["time_s"])
    assert found["error"]["median"] < found["error"]["p90"]
    assert len(found["candidates"]) == 21
    status, out, _ = run(*COMMAND, "--size", "16KiB")
    assert status == 0 and "ring ll" in out and "rows never seen" in out


def test_sizes_ports_and_settings(run):
    def time(*more):
        status, out, _ = run(*COMMAND, *more, "--json")
        assert status == 0
        return json.loads(out)["time_s"]

    plain = time("--size", "1GB")
    assert time("--size", "1000000000") == plain
    assert time("--size", "1GiB") > plain
    assert time("--size", "1GB", "--algorithm", "ring", "--protocol", "simple") > plain
    assert time("--size", "1GB", "--python") > plain
    two = ("--ranks", "16", "--nodes", "2", "--size", "1GB")
    assert time(*two, "--port", "100") > time(*two)
    assert time(*two, "--fabric", "ib") == time(*two)
    assert time(*two, "--fabric", "tcpxo") > time(*two)
    assert time(*two, "--latency", "40") > time(*two, "--latency", "0")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--size", "many"), "'many'"),
        (("--size", "nan"), "'nan'"),
        (("--size", "0"), "one byte"),
        (("--size", "1K", "--ranks", "0"), "ranks = 0"),
        (("--size", "1K", "--ranks", "12"), "nodes of 8"),
        (("--size", "1K", "--nodes", "3"), "nodes = 3"),
        (("--size", "1K", "--algorithm", "rng"), "rng"),
        (("--size", "1K", "--algorithm", "pat"), "all_gather"),
        (("--size", "1K", "--on", "nosuch"), "nosuch"),
        (("--size", "1K", "--on", "tpu-v5e"), "TPU"),
        (("--size", "1K", "--port", "-1"), "port"),
        (("--size", "1K", "--fabric", "etherned"), "etherned"),
        (("--size", "1K", "--ranks", "16", "--latency", "-3"), "latency = -3"),
        (("--size", "1K", "--latency", "nan"), "latency"),
    ],
)
def test_bad_input_is_one_error(run, more, says):
    status, _, err = run(*COMMAND, *more)
    assert status == 2 and says in err and "Traceback" not in err


def test_topo_says_what_joins_what(run, tmp_path):
    file = tmp_path / "topo.txt"
    file.write_text(topo_sample("h100_eight"))
    status, out, _ = run("topo", str(file), "--json")
    found = json.loads(out)
    assert status == 0 and found["device"] == "h100_sxm"
    assert len(found["islands"]) == 1 and found["nearest"]["GPU3"] == ["NIC3"]
    assert sum(found["classes"].values()) == 16 * 15 // 2
    assert [one["algorithm"] for one in found["choices"]][-1] == "nvls"
    file.write_text(topo_sample("four_cards"))
    status, out, _ = run("topo", str(file))
    assert status == 0 and "island 4" in out and "5: GPU0-GPU1" in out
    status, out, _ = run("topo", str(file), "--on", "a40", "--csv")
    assert status == 0 and out.startswith("what,value")


def test_topo_follows_the_tree_and_who_reaches_whom(run, tmp_path):
    file = tmp_path / "topo.txt"

    def rate(word, *more):
        rows = [
            "\t".join([f"GPU{a}", *(" X " if a == b else word for b in range(8))])
            for a in range(8)
        ]
        head = "\t" + "\t".join(f"GPU{i}" for i in range(8))
        file.write_text("\n".join([head, *rows]))
        status, out, _ = run("topo", str(file), "--json", *more)
        assert status == 0
        return json.loads(out)["choices"][-1]["bus_B_per_s"] / 1e9

    pro = {w: rate(w, "--on", "rtx-pro-6000-server") for w in ("PIX", "PHB", "SYS")}
    assert pro["PIX"] > 1.4 * pro["PHB"] > 1.4 * pro["SYS"]
    # Boards of eight without access: a few GB/s under one switch, never 47.
    assert rate("PIX", "--on", "rtx-4090") < 4
    assert rate("SYS", "--on", "rtx-4090") == pytest.approx(12, rel=0.05)
    patched = rate("PHB", "--on", "rtx-4090", "--p2p", "--p2p-level", "SYS")
    assert patched == pytest.approx(20, rel=0.05)
    narrow = rate("PHB", "--on", "rtx-4090", "--link", "3x8")
    assert narrow == pytest.approx(rate("PHB", "--on", "rtx-4090") / 4, rel=0.02)
    for more, says in (
        (("--link", "4"), "4x16"),
        (("--link", "9x16"), "generations"),
        (("--link", "4x16,4x8"), "2 slots for 8 GPUs"),
        (("--p2p-level", "NV"), "PIX"),
        (("--cpu", "pentium"), "skylake"),
    ):
        status, _, err = run("topo", str(file), *more)
        assert status == 2 and says in err and "Traceback" not in err


def test_topo_refuses_what_is_no_matrix(run, tmp_path):
    assert run("topo", str(tmp_path / "no"))[0] == 2
    file = tmp_path / "t.txt"
    file.write_text("GPU0 GPU1\nGPU0 X WARP\nGPU1 WARP X\n")
    status, _, err = run("topo", str(file))
    assert status == 2 and "line 2" in err and "WARP" in err
    file.write_bytes(b"\xff\xfe\x00")
    assert run("topo", str(file))[0] == 2
    assert run("topo", str(tmp_path))[0] == 2
