"""What ``stacklib doctor`` finds, and what it says of what it does not."""

import json
from pathlib import Path

import pytest

from stacklib import cli
from stacklib.cli import doctor

ASKED = {"nsys", "ncu", "py-spy", "triton", "nvcc", "gcc", "g++", "torch"}


def report(capsys: pytest.CaptureFixture[str]) -> dict:
    assert cli.main(["doctor", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_every_tool_has_a_purpose_and_a_way_to_get_it():
    pieces = (*doctor.PACKAGES, *doctor.PROGRAMS)
    names = [piece.name for piece in pieces]
    assert len(set(names)) == len(names) and set(names) >= ASKED
    assert all(piece.use and piece.get for piece in pieces)


def test_the_report_names_what_is_missing_and_only_that(capsys):
    found = report(capsys)
    all_of_it = {**found["packages"], **found["programs"]}
    assert set(found["missing"]) == {
        name for name, what in all_of_it.items() if what == doctor.MISSING
    }
    assert set(found["purpose"]) == set(all_of_it)


def test_a_compiler_by_another_name_is_found(tmp_path: Path, monkeypatch, capsys):
    clang = tmp_path / "clang"
    clang.write_text("#!/bin/sh\n")
    clang.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = report(capsys)
    assert found["programs"]["gcc"] == str(clang)
    assert found["programs"]["ncu"] == doctor.MISSING
    assert "no NVIDIA driver" in found["cuda"]


def test_with_nothing_installed_it_says_how_to_get_each(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(doctor, "_package", lambda piece: doctor.MISSING)
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    for piece in (*doctor.PACKAGES, *doctor.PROGRAMS):
        assert piece.get in out
    assert "the core needs Python alone" in out


def test_a_driver_without_torch_is_told(tmp_path: Path, monkeypatch):
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for version, said in (
        (doctor.MISSING, "no torch to use it"),
        ("2.13.0+cpu", "built without CUDA"),
        ("2.13.0+cu130", "driver and torch 2.13.0"),
    ):
        monkeypatch.setattr(doctor, "_package", lambda piece, v=version: v)
        assert said in doctor.cuda()
