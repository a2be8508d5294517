"""Section 9.2: the page's loop beside the checker, its lanes, its bill."""

import pytest

from stacklib.diy import verify
from stacklib.pages.diy import parts as page
from stacklib.pages.diy.parts import live

from ...live_figures import ask, values
from ...programs import loop_of

loop = loop_of("09-diy/parts")


def test_the_loop_says_what_the_checker_does():
    told = [f"{f.rule}: {f.says}\n  {f.sum}" for f in verify(page.build())]
    assert loop.prints() == "\n".join(told) + "\n" and len(told) == 3
    left = loop.prints(old="wrx90e_sage_se", new="trx50_aero_d")
    assert "series" not in left and left.count(":") == 2


def test_the_list_is_mended_step_by_step():
    assert [f.rule for f in page.steps()] == ["series", "supply", "circuit"]
    assert verify(page.mended(), mains=240) == []
    assert page.bill(page.mended()).si == page.mended().dollars < page.bill().si


def test_the_fourth_card_has_an_eighth_of_what_it_could_have():
    assert [page.lanes(card).si for card in range(1, 5)] == [8, 8, 4, 4]
    assert page.link(4, "server").si / page.link(4).si == pytest.approx(8, rel=0.01)
    (found,) = verify(page.build("desktop"))
    assert found.rule == "chipset" and found.mend is None
    assert verify(page.build("server")) == []
    wide, narrow = (page.rate(n, "tensors", "prompt").si for n in ("server", "desktop"))
    assert wide > 2 * narrow


def test_cards_stand_where_the_boards_maker_lets_them():
    """MSI prints x16/x16 for two, x16/x0/x16/x8 for three and x8/x8/x16/x8 for four."""
    assert [page.printed(n) for n in (2, 3, 4)] == [
        "x16/x16",
        "x16/x16/x8",
        "x8/x8/x16/x8",
    ]


@pytest.mark.parametrize("place", range(6))
def test_every_choice_draws(place):
    chosen = {c["name"]: values(c)[place % len(values(c))] for c in live.controls()}
    spec, said = ask(live.explore, live.controls(), **chosen)
    found = verify(
        live.made(*(chosen[n] for n in ("card", "many", "board", "supply"))),
        mains=float(chosen["mains"]),
    )
    assert said["holds"] == str(44 - len(found))
    assert [row["head"] for row in spec.get("table", {"rows": []})["rows"]] == [
        f.rule for f in found
    ]
