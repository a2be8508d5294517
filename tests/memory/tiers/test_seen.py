"""The five tiers from both places, and the parts they are built from."""

import copy
import tomllib

import pytest

from stacklib import hardware
from stacklib.hardware import SpecError, UnknownSpec
from stacklib.memory.tiers import parts, seen
from stacklib.memory.tiers.seen import tiers_from
from stacklib.quantity import Quantity, UnknownName

PRICES = {
    k: Quantity(p, "USD/GB")
    for k, p in zip(seen.PRICED, (70, 15, 2, 2, 0.1), strict=True)
}


@pytest.mark.parametrize("viewpoint", seen.VIEWPOINTS)
def test_five_tiers_nearest_first_and_each_answers_later(viewpoint):
    tiers = tiers_from(viewpoint, prices=PRICES)
    waits = [t.latency.si for t in tiers]
    assert len(tiers) == 5 and waits == sorted(waits)
    for t in tiers:
        assert t.price is not None and t.energy is not None
        assert list(t.latency.leaves()) and not t.bandwidth.tags


def test_where_you_stand_decides_what_is_near():
    sm = {t.name: t for t in tiers_from("sm")}
    core = {t.name: t for t in tiers_from("core")}
    assert sm["HBM"].latency.si < sm["DDR5 of the host"].latency.si
    assert core["DDR5"].latency.si < core["HBM of the GPU"].latency.si
    # the host's memory is ten times as fast as the link to it
    assert core["DDR5"].bandwidth.si > 10 * sm["DDR5 of the host"].bandwidth.si
    link = hardware.link("pcie5_x16")
    for name in ("DDR5 of the host", "CXL of the host"):
        assert sm[name].bandwidth.si == pytest.approx(link.achieved.si)
    added = sm["DDR5 of the host"].latency.si - core["DDR5"].latency.si
    assert added == pytest.approx(link.latency.si)


def test_energy_rises_outwards_and_comes_from_its_papers():
    energies = [t.energy.to("pJ/bit").value for t in tiers_from("sm")]
    assert energies == sorted(energies)
    assert seen.hbm2_energy() is hardware.memory("hbm2").energy  # one value, one place
    assert seen.hbm2_energy().to("pJ/bit").value == pytest.approx(3.92)
    # Eight bits of 72 that correct errors would be an eighth of all that is moved.
    assert 0 < (seen.hbm2_correction() / seen.hbm2_energy()).si < 1 / 8
    assert 14 < seen.ddr5_energy().to("pJ/bit").value < 20.4


def test_other_viewpoints_and_prices_are_refused():
    with pytest.raises(ValueError, match="viewpoint 'moon'"):
        tiers_from("moon")
    with pytest.raises(ValueError, match="price of 'tape'"):
        tiers_from("sm", prices={"tape": Quantity(1, "USD/GB")})


# -- parts ---------------------------------------------------------------------


@pytest.mark.rows("key", parts.drive_names())
def test_a_drive_is_possible(key):
    d = parts.drive(key)
    for field in ("read", "write"):
        assert d.fields[field].si <= hardware.link("pcie6_x16").per_direction.si / 4
    # random pages cannot come faster than sequential ones
    assert d.reads.si * d.page.si <= d.read.si * 1.02
    assert d.writes.si * d.page.si <= d.write.si
    for value in d.fields.values():
        assert value is None or value.source is not None


def test_the_warranty_of_the_old_drive_is_its_petabytes():
    old = parts.drive("micron-9200")
    years = Quantity(5, "year")
    written = old.capacity * old.writes_per_day * years
    assert written.to("PB").value == pytest.approx(59.5, rel=0.01)
    new = parts.drive("micron-9550")
    written = new.capacity * new.writes_per_day * years
    assert written.to("TB").value == pytest.approx(70_080, rel=0.01)


@pytest.mark.rows("name", parts.constant_names())
def test_a_constant_has_its_source(name):
    q = parts.constant(name)
    assert q.source is not None and q.label and q.si > 0


def test_unknown_names_and_fields():
    with pytest.raises(UnknownName, match="micron_9550"):
        parts.drive("micron-9551")
    with pytest.raises(UnknownName, match="sram_8kb"):
        parts.constant("sram_9kb")
    with pytest.raises(UnknownSpec, match=r"latency \(latency\) is unknown"):
        _ = parts.drive("micron-7600").latency
    with pytest.raises(AttributeError, match="no field 'colour'"):
        _ = parts.drive("micron-7600").colour


@pytest.mark.rows(
    "break_it, message",
    [
        (lambda d: d.pop("name"), "'name' is missing"),
        (lambda d: d.pop("reads"), "reads is missing"),
        (lambda d: d.update(read={"value": 14, "unit": "GB"}), "cannot be given"),
        (lambda d: d.update(read={"value": -1, "unit": "GB/s"}), "above zero"),
        (lambda d: d.update(colour="red"), "no such field"),
    ],
)
def test_a_broken_drive_is_refused(break_it, message):
    raw = copy.deepcopy(tomllib.loads((parts.DATA / "parts.toml").read_text()))
    break_it(raw["drives"]["micron_9550"])
    with pytest.raises(SpecError, match=message):
        parts.read_drives(raw, "parts.toml")


def test_a_constant_without_a_source_is_refused():
    with pytest.raises(SpecError, match="a label and a source"):
        parts.read_constants({"x": {"value": 1, "label": "x"}}, {}, "f")


def test_every_source_of_the_files_is_used():
    for name in ("energy.toml", "parts.toml"):
        text = (parts.DATA / name).read_text()
        for source in tomllib.loads(text)["sources"]:
            assert f'source = "{source}"' in text, f"{name}: {source}"
