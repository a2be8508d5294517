"""Fact pages: what they say against the database, and what a reader can do there."""

import dataclasses
import html
import json
import re
import tomllib
from pathlib import Path

import fact_conflicts
import fact_devices
import fact_links
import fact_models
import fact_pages
import fact_peaks
import fact_prices
import fact_runs
import pytest
from fact_html import Cell, Column, Row, Sheet, sift, table
from sphinx.errors import ExtensionError

from stacklib import gpu, hardware, models, roofline
from stacklib.evidence import conflicts, guard
from stacklib.hardware import links as spec_links
from stacklib.hardware.crosscheck import residuals
from stacklib.hardware.load import from_dict
from stacklib.quantity import Quantity

from .test_extension import ROOT, Book

DATA = ROOT / "stacklib" / "hardware" / "data" / "accelerators"
TAGS = re.compile(r"<[^>]*>")


def plain(page: str) -> str:
    """The words of HTML, without scripts, tags and entities."""
    page = re.sub(r"<script.*?</script>", "", page, flags=re.S)
    return " ".join(html.unescape(TAGS.sub(" ", page)).split())


def rows_of(page: str) -> dict[str, str]:
    """Rows of a page's tables by their id, as HTML."""
    return dict(re.findall(r'<tr id="([^"]+)"[^>]*>(.*?)</tr>', page, re.S))


def trees_of(page: str) -> dict[str, dict]:
    """The derivations that a page embeds."""
    return json.loads(re.search(r'id="st-quantities">(.*?)</script>', page, re.S)[1])


def planted(**fields: object) -> hardware.Accelerator:
    """H100 with fields replaced; ``peak={}`` takes all rates away."""
    raw = tomllib.loads((DATA / "h100_sxm.toml").read_text("utf-8"))
    peak = fields.pop("peak", raw["peak"])
    raw["fields"] |= fields
    return from_dict({**raw, "peak": peak}, "planted.toml")


# ---- a device's page ----


def test_a_page_shows_every_field_and_rate_with_its_source():
    device = hardware.get("h100_sxm")
    page = fact_devices.device_page(device)
    rows, trees = rows_of(page), trees_of(page)
    for name, value in device.fields.items():
        row = plain(rows[name])
        if value is None:
            assert "unknown" in row
            continue
        assert value.text(digits=6) in row
        for part in (value.source.title, value.source.seen, value.source.confidence):
            assert " ".join(part.split()) in row, (name, row)
        assert ("inherited" in row) == value.source.inherited
        assert trees[name]["source"]["title"] == value.source.title
    for name, peak in device.peaks.items():
        assert peak.rate.text(digits=6) in plain(rows[f"peak-{name.replace('/', '-')}"])
    for gap in residuals(device):
        assert html.escape(gap) in page


def test_a_page_draws_a_roof_for_each_rate_and_names_the_ridge():
    device = hardware.get("h100_sxm")
    page = fact_devices.device_page(device)
    assert 'id="fig-roof-h100-sxm"' in page
    for words in ("bf16, fp16", "fp8", roofline.ridge(device).text(digits=4)):
        assert words in plain(page)


def test_speeds_are_those_of_the_decode_step():
    device = hardware.get("h200_sxm")
    trees = trees_of(fact_devices.device_page(device))
    shown = 0
    for model in fact_runs.by_size():
        for dtype in fact_runs.FORMATS:
            tree = trees.get(f"run.{model.key}.{dtype}")
            if tree is None:
                continue
            shown += 1
            step = roofline.decode_step(
                model, on=device, dtype=dtype, context=fact_runs.CONTEXT
            )
            if step.fit.fits:
                assert tree["text"] == step.tokens_per_s.text(digits=3)
                assert "Upper bound" in tree["what"]
            else:
                assert tree["text"] == step.fit.need.text("GB", 3)
                assert step.fit.explanation in tree["what"]
                assert "/s" not in tree["text"]
    assert shown >= len(models.names())


def test_what_is_unknown_is_said_and_nothing_is_drawn_or_priced():
    page = fact_devices.device_page(planted(memory_bandwidth="unknown"))
    text = plain(page)
    assert "No roofline: the memory bandwidth is unknown" in text
    assert "<svg" not in page and "fits; bandwidth unknown" in text
    assert not [t for t in trees_of(page).values() if "tokens/s" in t["text"]]

    text = plain(fact_devices.device_page(planted(peak={})))
    assert "no arithmetic rate is known" in text and "fits; rates unknown" in text

    text = plain(fact_devices.device_page(planted(memory_capacity="unknown")))
    assert "Nothing can be said: the memory capacity is unknown" in text


def test_a_page_that_shows_what_cannot_be_is_refused():
    values = {"need": guard.cell(Quantity(999, "GB"), role="resident")}
    row = guard.row("planted", values, device="h100_sxm", feasible=True)
    with pytest.raises(ExtensionError, match="exceeds"):
        fact_runs.hold(guard.entry("table", "runs", [row]))


def test_conflicts_stand_at_the_devices_they_are_about():
    said = fact_conflicts.of_device(hardware.get("h200_sxm"))
    assert "conflicts.html#conflict-h200_bw" in said
    assert fact_conflicts.of_device(planted()) == fact_conflicts.of_device(
        hardware.get("h100_sxm")
    )


# ---- tables ----


def test_the_table_holds_every_device_and_never_sorts_the_unknown():
    page = fact_devices.device_table(Sheet())
    rows = rows_of(page)
    keys = [key for key in hardware.names() if key != hardware.THIS_MACHINE]
    assert sorted(rows) == sorted(f"devices-{key.replace('.', '-')}" for key in keys)
    for key in keys:
        cells = re.findall(r"<td[^>]*>", rows[f"devices-{key}"])
        tdp = hardware.get(key).fields["tdp"]
        # Design power is the fourth of a row's cells from the right's third.
        assert ("data-v" in cells[-3]) == (tdp is not None), key
        assert 'data-v="0"' not in rows[f"devices-{key}"]
    assert len(page.encode()) < 1_500_000


def test_a_planted_unknown_has_no_key_to_sort_by():
    columns = (Column("name", "Name"), Column("power", "Power", "W"))
    known, unknown = (
        Row("a", [Cell("A"), Cell(Quantity(3, "kW"))]),
        Row("b", [Cell("B"), Cell(None)]),
    )
    rows = rows_of(sift("t", "Two", columns, [known, unknown], Sheet()))
    assert 'data-v="3000"' in rows["t-a"] and "3,000" in rows["t-a"]
    assert "data-v" not in rows["t-b"] and "unknown" in rows["t-b"]


def test_text_of_the_data_cannot_become_markup():
    bad = '<script>alert("x")</script>'
    row = Row("a", [Cell(bad, bad)], bad)
    page = sift("t", bad, [Column("n", bad)], [row], Sheet())
    page += table(bad, [bad], [])
    assert "<script>" not in page


def test_every_conflict_is_shown_once_with_its_cause():
    page = fact_conflicts.conflict_tables(Sheet())
    rows = rows_of(page)
    for row in conflicts.load():
        found = plain(rows[f"conflict-{row.id}"])
        for part in (row.item, row.claimed, row.why, row.source, row.verdict):
            assert " ".join(part.split()) in found
        assert f'id="cause-{row.cause.replace(" ", "-").lower()}"' in page
    assert len(rows) == len(conflicts.load())


def test_links_memories_and_prices_are_all_there():
    links = rows_of(fact_links.link_table(Sheet()))
    assert len(links) == len(hardware.link_names())
    assert len(rows_of(fact_links.memory_table(Sheet()))) == len(
        hardware.memory_names()
    )
    nvlink = plain(links["links-nvlink5"])
    assert "900" in nvlink and "1,800" in nvlink
    ladder = plain(fact_links.ladder(Sheet()))
    for link in spec_links.ladder():
        assert link.short in ladder
    assert "USD/h" in fact_prices.price_table(Sheet())
    assert "cm²" in fact_prices.cost_tables(Sheet())


# ---- models ----


def test_every_peak_stands_beside_the_product_of_its_factors():
    sheet = Sheet()
    page = fact_peaks.peak_table(sheet)
    rows, found = rows_of(page), list(gpu.peaks())
    assert len(rows) == len(found) > 700
    assert len({one.device.key for one in found}) > 120
    differs = [one for one in found if fact_peaks.verdict(one) == "differs"]
    said = [plain(row).rstrip().endswith("differs") for row in rows.values()]
    assert 0 < sum(said) == len(differs) < 20
    row = plain(rows["peaks-h100_sxm-bf16"])
    assert row.endswith("bf16 fp32 132 2,048 1.83 989.4 989.4 0.0 agrees")
    assert len(page) + len(sheet.script()) < 1.6e6


def test_a_planted_peak_is_told():
    """A sparse rate printed as dense differs; an inferred clock shows."""
    right = gpu.peak_of("h100-sxm", "bf16")
    wrong = dataclasses.replace(right, printed=right.printed * 2)
    assert fact_peaks.verdict(right) == "agrees"
    assert fact_peaks.verdict(wrong) == "differs"
    inferred = dataclasses.replace(right, implied=True)
    assert fact_peaks.verdict(inferred) == "clock inferred"


@pytest.mark.rows("key", models.names(), drawn=20)
def test_a_model_page_counts_what_the_model_counts(key):
    model = models.get(key)
    page = fact_models.model_page(model)
    trees = trees_of(page)
    assert trees["counted"]["text"] == model.parameters.text(digits=15)
    published = models.published_parameters(key)
    assert trees["published"]["text"] == published.text(digits=15)
    assert trees["published"]["source"]["title"] == published.source.title
    decode = fact_models._by_part(model, "decode", 128)
    work = models.work_per_token(model, 128, "decode")
    assert sum(decode.values()) == pytest.approx(sum(w.flops for w in work))
    kind = {"M": "attention:", "L": "Latent", "C": "Compressed"}
    assert any(word in plain(page) for word in kind.values())


# ---- the build: pages, search, and what a change of the data rewrites ----

TWO = ("h100_sxm", "tpu_v5p")


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A book with the device table over two devices."""
    two = [hardware.get(key) for key in TWO]
    monkeypatch.setattr(fact_devices, "devices", lambda: two)
    book = Book(tmp_path, monkeypatch)
    book.write("hardware/index.md", "# Hardware\n\n:::{facts} devices\n:::\n")
    book.write("index.md", "# Tiny\n\n```{toctree}\nhardware/index\n```\n")
    book.pages = fact_pages
    return book


def built(book: Book) -> dict[str, float]:
    """When each page of the folder was written."""
    folder = book.folder / "_build" / "html" / "hardware"
    return {path.stem: path.stat().st_mtime_ns for path in folder.glob("*.html")}


def test_pages_are_built_linked_and_found(tiny):
    assert tiny.build() == []
    assert set(built(tiny)) == {"index", *TWO}
    page = tiny.html("hardware/h100_sxm")
    assert "<title>NVIDIA H100" in page and 'id="st-quantities"' in page
    assert 'href="h100_sxm.html"' in tiny.html("hardware/index")
    index = (tiny.folder / "_build" / "html" / "searchindex.js").read_text("utf-8")
    assert '"hardware/h100_sxm"' in index and "NVIDIA H100" in index


def test_an_unchanged_build_writes_nothing(tiny):
    tiny.build()
    before = built(tiny)
    assert tiny.build() == []
    assert built(tiny) == before


def test_a_changed_device_is_written_anew_and_the_other_kept(tiny, monkeypatch):
    tiny.build()
    before = built(tiny)
    digest = tiny.pages.digest

    def changed(paths: list[Path]) -> str:
        names = [path.name for path in paths]
        return digest(paths) + ("x" if names == ["tpu_v5p.toml"] else "")

    monkeypatch.setattr(tiny.pages, "digest", changed)
    assert tiny.build() == []
    after = built(tiny)
    moved = {page for page in after if after[page] != before[page]}
    assert moved == {"tpu_v5p", "index"}
    index = (tiny.folder / "_build" / "html" / "searchindex.js").read_text("utf-8")
    assert '"hardware/h100_sxm"' in index


def test_the_page_of_a_device_that_is_gone_goes(tiny, monkeypatch):
    tiny.build()
    one = [hardware.get("h100_sxm")]
    monkeypatch.setattr(fact_devices, "devices", lambda: one)
    assert tiny.build() == []
    assert set(built(tiny)) == {"index", "h100_sxm"}


def test_a_table_that_does_not_exist_is_told(tiny):
    tiny.write("hardware/index.md", "# Hardware\n\n:::{facts} devises\n:::\n")
    assert any("{facts} 'devises': one of" in fault for fault in tiny.build())
