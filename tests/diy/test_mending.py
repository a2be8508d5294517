"""What is proposed mends; builds drawn at random never crash the checker."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacklib.cost.catalogue import parts
from stacklib.diy import Build, verify
from stacklib.diy.build import KIND_OF, MANY

from .builds import DESK, LISTS, PLANTED, RACK, TOWER


def drawn(field: str):
    known = st.sampled_from([p.key for p in parts(KIND_OF[field])])
    return st.lists(known, min_size=1, max_size=4) if field in MANY else known


BUILDS = st.fixed_dictionaries({field: drawn(field) for field in DESK})


def mended(fields: dict, mains: float) -> list:
    """What is found, when each change mends its finding and breaks nothing else."""
    found = verify(Build(**fields), mains=mains)
    for one in found:
        if one.mend is not None:
            after = verify(one.mend.build, mains=one.mend.mains or mains)
            left = {f.rule for f in after}
            assert one.rule not in left and left <= {f.rule for f in found}
    return found


@settings(max_examples=15, deadline=None)
@given(BUILDS, st.sampled_from([120, 230, 240]))
def test_any_build_is_judged_and_each_mend_mends(fields, mains):
    mended(fields, mains)


@pytest.mark.rows("name", PLANTED)
def test_a_rule_alone_catches_its_build_and_its_mend_mends(name):
    (found,) = mended(*PLANTED[name])
    assert (found.rule, found.verdict) == (name, "broken")
    assert found.says and found.sum and found.part
    assert found.sources or found.need is not None
    for amount in filter(None, (found.need, found.have)):  # its derivation says so, too
        derived = amount.quantity()
        shown = derived.to(amount.unit).value if amount.unit else derived.value
        assert shown == pytest.approx(amount.value)


@pytest.mark.rows("name", LISTS)
def test_a_list_breaks_its_rules_alone_and_each_mend_mends(name):
    fields, mains, rules = LISTS[name]
    found = mended(fields, mains)
    assert {"?" * (f.verdict == "undecided") + f.rule for f in found} == rules


def test_the_change_is_the_cheapest_there_is():
    """Against every supply of the catalogue, tried one by one."""
    build = Build(**PLANTED["plugs-8"][0])
    (found,) = verify(build)
    prices = [
        psu.dollars - build.psu[0].dollars
        for psu in parts("psu")
        if psu.quotes and not verify(build.with_(psu=psu))
    ]
    assert found.mend.dollars == min(prices)


def test_what_costs_nothing_comes_before_what_does():
    (found,) = verify(Build(**{**RACK, "slots": ["PCIE1", "PCIE3"]}))
    assert (found.mend.field, found.mend.dollars) == ("slots", 0)


def test_no_limit_is_proposed_that_a_card_does_not_take():
    """Two 5090 on 120 V would have to run below the 400 W of their driver."""
    cards = {"gpus": "2 x rtx_5090", "psu": "hydro_ptm_pro_1650", "limit": 400}
    (found,) = verify(Build(**{**TOWER, **cards}))
    assert (found.rule, found.mend.field) == ("circuit", "mains")


def test_one_change_mends_two_rules_where_it_can():
    """A cooler of another socket that is too small: one that fits both, not two."""
    both = Build(**{**TOWER, "cooling": "nh_d15_g2"})
    mends = {f.rule: f.mend.says for f in verify(both)}
    assert mends["cooler-socket"] == mends["cooler-power"]
