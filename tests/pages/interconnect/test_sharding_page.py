"""Section 6.13: the page's loop, stages, real runs beside predictions, claims."""

import pytest

from stacklib.interconnect.sharding.held import shard_bytes, shard_memory
from stacklib.pages.interconnect import sharding as page
from stacklib.pages.interconnect.sharding import claims, drawings, live

from ...programs import loop_of

loop = loop_of("06-interconnect/sharding")


@pytest.mark.parametrize("chips", [64, 1024])
def test_the_loop_is_the_package(chips):
    for zero, said in enumerate(loop.prints("64, 2, 2", f"{chips}, 2, 2").splitlines()):
        words = said.split()
        held, sent = float(words[3]), float(words[6])
        assert held == pytest.approx(shard_memory(1, chips, zero).total, abs=6e-4)
        assert sent == pytest.approx(shard_bytes(1, chips, zero), abs=6e-4)


def test_stages():
    assert page.more().si == pytest.approx(1.5)
    assert [page.sends(z).si for z in (0, 1, 2)] == [page.sends(0).si] * 3
    assert page.total(0).si == pytest.approx(64 * page.total(3).si)
    assert page.total(3).si < page.capacity().si < page.total(0).si


def test_runs_hold_what_was_predicted_to_the_byte():
    for id in page.CASES:
        assert page.seen(id, "held").si == page.foretold(id, "held").si
    assert page.bytes_off().si < 0.01 and page.loss_off().si < 1e-5
    form, wired = page.foretold("fsdp-2", "form"), page.seen("fsdp-2", "carried")
    assert wired.si / form.si == pytest.approx(4 / 3, rel=0.01)


def test_a_token_sends_little():
    assert page.token_sends().si == pytest.approx(160 * 16384 * 2 * 7 / 8)
    assert page.kept(True).si < page.kept(False).si / 3


def test_claims():
    assert claims.sums_of_a_layer().si == 2
    assert claims.sums_of_a_token().si == 160
    found = claims.gigabytes()
    assert found.verdict == "depends" and found.computed.si > 1e9
    assert 0.5 < claims.pcie().computed.si < 1


def test_the_live_figure_and_the_drawing():
    given = {c["name"]: c["value"] for c in live.controls()}
    assert "fits" in live.explore(**given)["title"]
    assert "does not fit" in live.explore(**given | {"zero": "0"})["title"]
    assert len(drawings.four_chips().html) < 90_000
