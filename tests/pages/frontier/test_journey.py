"""Section 10.8: the page's loop, its sums and its figures beside the room's."""

import re

import pytest
from _tools import tree

from stacklib import serving
from stacklib.frontier import meters
from stacklib.pages import chain
from stacklib.pages.chain.bars import ROLES
from stacklib.pages.frontier import journey as page
from stacklib.pages.frontier.journey import drawings, figures, live
from stacklib.pages.serving import journey as street
from stacklib.serving.token import joules

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("10-frontier/journey")
ROW = re.compile(r"([\d.]+) ms +([\d.]+) J +([\d.]+) USD")


@pytest.mark.parametrize("end", [1, 0])
def test_the_loop_prints_what_the_room_has(end):
    rates = [page.rate(of, end).si for of in ("bit", "operation", "standing")]
    given = f"{rates[0] * 1e12:.4f}, {rates[1] * 1e12:.4f}, {rates[2]:.4f}, 9.33"
    typed = "19.4, 1.29, 111.6"
    printed = loop.prints(f"{typed}, 9.33", given)
    own = [page.rate(of, 1).si for of in ("bit", "operation", "standing")]
    due = own[0] * 1e12, own[1] * 1e12, own[2]
    assert [float(n) for n in typed.split(", ")] == pytest.approx(due, rel=5e-3)
    rows = [tuple(map(float, one)) for one in ROW.findall(printed)]
    for (ms, drawn, paid), event in zip(rows, page.timed(), strict=True):
        assert ms == pytest.approx(1e3 * event.time.si, abs=2e-3)
        assert drawn == pytest.approx(page.end(event.joules, end).si, abs=4e-3)
        assert paid == pytest.approx(1e6 * event.dollars.middle.si, rel=2e-3, abs=2e-3)


def test_the_napkin_and_the_two_times_of_the_book_add_up():
    for end in (0, 1):
        moved = 8 * page.total("bytes").si * page.rate("bit", end).si
        made = page.total("operations").si * page.rate("operation", end).si
        stood = 8 * page.rate("standing", end).si * page.alone().time.si
        assert moved + made + stood == pytest.approx(
            page.end(page.alone().joules, end).si, rel=1e-6
        )
        assert page.part(joules.MADE, end).si == pytest.approx(made)
    alone, among = page.company()
    left = chain.account("10-frontier/journey", after=True).total()
    assert among["in all"].si == pytest.approx(left.si, rel=1e-9)
    told = serving.estimate(page.MODEL, page.DEVICE, "bf16", page.TP, context=4096)
    assert alone["in all"].si == told.tpot.si
    assert street.cost().si < page.million(page.alone().dollars, "alone").si / 7


def test_every_bar_opens_into_its_section_and_so_do_all_ten_chapters():
    text = (tree.ROOT / "chapters/10-frontier/journey.ipynb").read_text("utf-8")
    linked = set(re.findall(r"\((?:\.\./)?([\w-]+(?:/[\w-]+)?)\.ipynb\)", text))
    for event in page.timed():
        assert event.section in linked
    chapters = {name[:2] for name in linked if "/" in name}
    assert chapters == {f"{n:02}" for n in range(1, 10)} and "supply" in linked


def test_published_runs_are_of_four_kinds(monkeypatch):
    kinds = [page.kind(row) for row in meters.metered()]
    counts = {name: kinds.count(kind) for name, kind in page.KINDS.items()}
    assert counts == {"dense": 44, "long": 15, "mixed": 22, "window": 5}
    few = [row for row in meters.metered() if row.model == "llama-3.1-70b"][:4]
    found = {page.DENSE: [(row, row.predicted) for row in few]}
    monkeypatch.setattr(page, "published", lambda: found)
    assert page.inside(page.DENSE).si == 4 and page.over(page.DENSE).si > 1
    line, dots = figures.published_spec(title="t")["marks"]
    assert dots["y"] == [row.joules for row in few] and line["x"] == line["y"]


def test_the_drawing_names_the_gap():
    told = drawings.three_currencies().html
    assert "33.9 J to 53.9 J" in told and "no price quoted" in told
    ways = re.findall(r'<a href="../([^"]+).ipynb"[^>]*>([^<]+)</a>', told)
    opens = {(e.section, ROLES[e.name][0]) for e in page.timed() if e.section}
    assert set(ways) == opens  # each bar's name leads to the section that owns it


@pytest.mark.parametrize("place", range(3))
def test_every_choice_draws(place):
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    assert bool(spec["message"]) != bool(spec["marks"])
    rubin, _ = ask(live.explore, live.controls(), device="rubin", bars="dollars")
    assert "Rubin" in rubin["message"] and said is not None
