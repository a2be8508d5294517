"""``stacklib links``: the ladder, one link with its sources, the audit."""

import json

from stacklib import hardware


def test_the_ladder_has_every_link_and_memory_the_fastest_first(run):
    status, out, _ = run("links", "--json")
    rows = json.loads(out)["links"]
    assert status == 0
    assert len(rows) == len(hardware.link_names()) + len(hardware.memory_names())
    speeds = [
        value["value"] * {"GB/s": 1e9}[value["unit"].split()[0]]
        for row in rows
        for name, value in row["fields"].items()
        if name in ("per_direction", "bandwidth") and value != "unknown"
    ]
    assert speeds == sorted(speeds, reverse=True) and len(speeds) == len(rows) - 1


def test_the_ladder_prints_a_line_each_and_marks_estimates(run):
    status, out, _ = run("links")
    lines = out.splitlines()
    assert status == 0 and lines[0].startswith("key")
    (line,) = (x for x in lines if x.startswith("nvlink5 "))
    assert "900 GB/s" in line and "1,800 GB/s" in line and "~500 ns" in line
    assert "~" in lines[-1]


def test_one_link_prints_its_sources(run):
    status, out, _ = run("links", "nvlink-5")
    assert status == 0
    assert "900 GB/s per_direction" in out and "NVIDIA Blackwell technical brief" in out
    assert "recalled, estimate" in out and "unknown" in out


def test_one_memory_prints_its_sources(run):
    status, out, _ = run("links", "hbm3")
    assert status == 0 and "819.2 GB/s" in out and "JESD238" in out


def test_a_contradiction_is_said(run):
    assert "contradicts" in run("links", "groq_c2c_lp30")[1]


def test_the_audit_adds_up(run):
    status, out, _ = run("links", "--audit", "--json")
    counts = json.loads(out)
    assert status == 0
    parts = ("own source", "inherited", "unknown")
    assert sum(counts[part] for part in parts) == counts["fields"]
    assert counts["widest gaps"][0]["key"] == "groq_c2c_lp30"
    assert counts["estimates"] > 20
    assert "widest gaps" in run("links", "--audit")[1]


def test_an_unknown_name_is_bad_input(run):
    status, _, err = run("links", "nvlnk5")
    assert status == 2
    assert err.splitlines()[-1].startswith("did you mean: nvlink")
