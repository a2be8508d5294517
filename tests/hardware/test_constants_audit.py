"""Constants of architectures against the lines that their sources print."""

import json
import re

import pytest

from stacklib import cli, hardware
from stacklib.evidence import measurements
from stacklib.hardware import level_table
from stacklib.hardware import microarchitectures as micro
from stacklib.hardware.constants_audit import again, audit_constants

ROWS = [one for one in micro.constants() if one.row]
LINES = [one for one in micro.constants() if again(one) is not None]


def test_every_measured_constant_is_what_its_source_printed():
    found = audit_constants(micro.constants())
    assert not found.faults
    assert found.held == len([one for one in LINES if not one.inherited])
    assert found.held > found.recalled > 0 and found.inherited


@pytest.mark.rows("one", ROWS)
def test_what_a_constant_quotes_is_its_public_row(one):
    row = next(m for m in measurements.public() if m.id == one.row)
    quoted = one.cycles if one.cycles is not None else one.rate / 1e9
    assert quoted == row.value
    if one.at is not None and row.has("clock_MHz"):
        assert one.at == row.number("clock_MHz") * 1e6


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Write the file again with one figure doubled, and read that."""

    def plant(section: str, name: str, key: str) -> None:
        text = micro.PATH.read_text(encoding="utf-8")
        start = text.index(f"[{section}]\n")
        start = text.index(f"\n{name} = ", start)
        figure = re.compile(rf"\b{key} = ([0-9.]+)").search(text, start)
        assert figure is not None
        doubled = f"{key} = {2 * float(figure[1]):g}"
        path = tmp_path / micro.PATH.name
        path.write_text(text[: figure.start()] + doubled + text[figure.end() :])
        monkeypatch.setattr(micro, "PATH", path)
        _forget()

    yield plant
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for kept in (micro._raw, micro._table, micro._for, level_table._kept):
        kept.cache_clear()


@pytest.mark.parametrize("key", ["value", "at", "cycles"])
def test_a_doubled_figure_is_caught(planted, capsys, key):
    planted("hopper", "dram_latency", key)
    assert cli.main(["specs", "--audit", "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)["constants"]["faults"]
    assert len(faults) == 1 and faults[0].startswith("hopper.dram_latency differs by ")


@pytest.mark.parametrize("section", ["ada", "hopper", "cdna2"])
def test_a_doubled_rate_is_caught(planted, capsys, section):
    planted(section, "l1_bytes_per_cycle", "value")
    assert cli.main(["specs", "--audit"]) == 1
    assert f"{section}.l1_bytes_per_cycle differs by" in capsys.readouterr().out


def test_consumer_chips_read_half_of_what_a_data_centre_unit_reads():
    wide = {k: hardware.level(k, "l1").width.si for k in ("a100-sxm-80gb", "h100-sxm")}
    narrow = {
        k: hardware.level(k, "l1").width.si for k in ("a40", "rtx_4090", "rtx_5090")
    }
    assert all(w > 120 for w in wide.values())
    assert all(63 < n < 65 for n in narrow.values())


def test_what_nobody_measured_on_blackwell_is_called_inherited():
    for key, donor in (("b200", "hopper"), ("b300", "hopper"), ("rtx_5090", "ada")):
        for name in ("l1", "l2"):
            width = hardware.level(key, name).known("width")
            assert width.source.inherited and f"taken from {donor} " in width.label
