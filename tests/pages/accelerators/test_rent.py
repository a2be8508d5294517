"""Section 5.1: eight machines by the page's loop and by the package, and its claims."""

import re

import pytest

from stacklib.accelerators.machines.rows import BETS, MACHINES
from stacklib.pages.accelerators import rent as page
from stacklib.pages.accelerators.rent import drawings, figures, live

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("05-accelerators/rent")
LINE = re.compile(r"\d+ x (.+): (.+), ([\d.]+) ms, (\w+), then (\w+)")


def printed(**changes):
    """What the loop says: machine to fits, milliseconds, what binds, what next."""
    found = LINE.findall(loop.prints(**changes))
    return {name: (fits, float(ms), *waits) for name, fits, ms, *waits in found}


def test_the_loop_says_what_the_package_compares():
    said = printed()
    assert len(said) == 5
    for name, (fits, ms, binds, then) in said.items():
        row = page.eight()[name]
        assert (fits == "fits") == row.fits
        links = row.account["exchanges"].time.si
        assert ms == pytest.approx(1e3 * (row.roof.si - links), rel=0.03)
        assert (binds, then) == (row.binds, row.next)


def test_more_readers_fill_the_quick_machines():
    said = printed(old="readers, work = 1,", new="readers, work = 128,")
    compared = page.eight(128)
    assert {n for n, row in said.items() if row[0] == "fits"} == {
        n for n in said if compared[n].fits
    }
    assert "does not fit" in said["WSE-3"][0] and said["H100"][0] == "fits"


def test_turns_and_narrow_weights_explain_the_ratio():
    """The rack's bandwidth over the H100s', over its turns, times half the bytes."""
    narrow = page.read(page.OWN).si / page.read("Groq 3 LPU").si
    ratio = page.wider("Groq 3 LPU").si / page.turns().si * narrow
    assert page.times().si == pytest.approx(ratio, rel=0.05)
    assert page.fastest().machine.name == "Groq 3 LPU"


def test_published_runs_stay_below_their_roof():
    for name in page.APPLE:
        assert 0.3 < page.reached(name).si < 1


def test_a_pod_is_its_chips():
    assert page.pod_peak().to("EFLOP/s").value == pytest.approx(42.52, rel=1e-3)
    assert page.pod_memory().to("PiB").value == pytest.approx(1.6875, rel=1e-3)


def test_each_machine_and_bet_is_drawn():
    told = drawings.eight_machines().html
    assert all(name in told for name in MACHINES)
    marks = figures.bets_spec(title="t")["marks"]
    shown = {m["name"] for m in marks}
    unknown = {row.maker for row in BETS if page.readers(row) is None}
    assert unknown == {"Etched", "Google Coral"}
    assert len(shown) == len(figures.RIDGES) + len(BETS) - len(unknown) + 1


@pytest.mark.parametrize("place", range(4))
def test_every_choice_draws(place):
    """Each value of each control once, in turn."""
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    assert bool(spec["message"]) != bool(said)
    spec, _ = ask(live.explore, live.controls(), machine="WSE-3", batch=512)
    assert "does not fit" in spec["message"]
