"""What a budget runs, against every machine of small catalogues."""

import random
from itertools import product
from math import inf

import pytest

from stacklib.cost import catalogue
from stacklib.diy import planning
from stacklib.diy.build import KIND_OF, MANY, Build
from stacklib.diy.checker import verify
from stacklib.diy.planned import loudness, price
from stacklib.diy.planning import MOST_CARDS, SHARES, plan, searched
from stacklib.diy.platforms import CHOSEN, COUNTS
from stacklib.diy.rules import RULES, Case
from stacklib.hardware.accelerator import UnknownSpec
from stacklib.quantity import UnknownName
from stacklib.roofline.work.fit import Infeasible

LLAMA = "llama-3-70b:q4_k_m"
SMALL = "qwen3-14b:q4_k_m"


def small(seed):
    """A random part of the catalogue: a part or two of each kind."""
    draw = random.Random(seed)
    found = {}
    for kind in sorted(set(KIND_OF.values())):
        rows = [p for p in catalogue.parts(kind) if price(p, None) is not None]
        found[kind] = draw.sample(rows, 1)
    near = ("rtx_3090", "rtx_4090", "rtx_5060ti_16gb", "rtx_5090", "rtx_a6000")
    found["gpu"] = [catalogue.part(k, "gpu") for k in draw.sample(near, 1 + seed % 2)]
    usual = {"board": "romed8_2t", "cpu": "epyc_7302", "memory": "ksm32r_32"}
    usual |= {"psu": "evga_1600_p2", "case": "open_frame_8", "cooler": "nh_u14s_tr4"}
    for kind, name in usual.items():
        one = catalogue.part(name, kind)
        found[kind] = [one, *(p for p in found[kind] if p.key != name)]
    return found


def clean(build):
    """Whether every rule holds, without a mend."""
    case = Case(build, 120, 0.8)
    try:
        return all(rule.check(case) is None for rule in RULES.values())
    except UnknownSpec:
        return False


def rated(build, workload, search):
    """Seconds a token of a build, as the plan counts them: of its links' share."""
    case = Case(build, 120, 0.8)
    many = len(build.gpus)
    links = [s for s in (1.0, 0.5) if many == 1 or planning._wide(case, s)]
    if not links:
        return inf
    choice = planning.Choice(build.gpus[0], many, build.limit, links[0])
    return search.seconds(choice)


def every(parts, budget):
    """Every machine of a catalogue that the budget pays and all rules allow."""
    for card in parts["gpu"]:
        for many in range(1, MOST_CARDS + 1):
            if many * price(card, None) > budget:
                break
            for limit in {planning._limit(card, share) for share in SHARES}:
                rows = []
                for field in CHOSEN:
                    counts = COUNTS.get(field, (1,))
                    if field == "risers":
                        counts = (many,)
                    values = [(p,) * n for p in parts[KIND_OF[field]] for n in counts]
                    values += [()] if field == "risers" else []
                    rows.append(values if field in MANY else parts[KIND_OF[field]])
                for chosen in product(*rows):
                    given = dict(zip(CHOSEN, chosen, strict=True))
                    build = Build(gpus=(card,) * many, limit=limit, **given)
                    if sum(price(p, None) for p in build.parts()) <= budget:
                        yield build


@pytest.mark.parametrize("seed", range(3))
def test_no_machine_of_a_small_catalogue_is_better(seed):
    parts, budget = small(seed), (2600, 5000, 3500)[seed]
    best = inf, inf
    search = searched(budget, (SMALL,), parts)
    keen = {}
    for build in every(parts, budget):
        dollars = sum(price(p, None) for p in build.parts())
        key = build.gpus[0].key, len(build.gpus), build.limit
        seconds = keen.get(key)
        if seconds is None:
            full = planning.Choice(build.gpus[0], len(build.gpus), build.limit, 1.0)
            seconds = keen[key] = search.seconds(full)
        if (seconds, dollars) >= best or not clean(build):  # no link makes it faster
            continue
        best = min(best, (rated(build, SMALL, search), dollars))
    try:
        found = plan(budget, SMALL, parts=parts, most=1)[0]
    except Infeasible:
        assert best == (inf, inf)
        return
    assert (rated(found, SMALL, search), found.total) == pytest.approx(best)


def test_what_is_planned_holds_and_says_what_would_disprove_it():
    found = plan(5000, LLAMA)
    assert found == plan(5000, LLAMA)
    seconds = [1 / p.runs[0].decode for p in found]
    assert seconds == sorted(seconds)
    for one in found:
        assert verify(one) == []
        assert one.total == sum(d for _, d in one.bill) <= 5000
        assert one.watts <= 120 * 15 * 0.8
        assert one.excluded is not None and one.excluded.saves > 0
        assert one.runs[0].low < one.runs[0].decode < one.runs[0].high
        theirs = one.gpus[0].name.startswith(
            "AMD"
        )  # nvidia-smi knows no card of theirs
        assert ("lspci" if theirs else "pcie.link.width.current") in one.commands[0]
        assert f"{one.runs[0].low:.3g}" in one.commands[1]


def test_a_larger_budget_is_never_slower_and_other_outlets_allow_more():
    last = inf
    for budget in (3000, 9000):
        now = sum(1 / run.decode for run in plan(budget, LLAMA, most=1)[0].runs)
        assert now <= last
        last = now
    wide = plan(9000, LLAMA, most=1, circuit=230)[0]
    assert sum(1 / run.decode for run in wide.runs) <= last


def test_the_nearest_miss_has_its_price():
    nearest = r"1,500 USD .* nearest .* costs [\d,]+ USD"
    with pytest.raises(Infeasible, match=nearest) as miss:
        plan(1500, LLAMA)
    said = str(miss.value)
    dollars = float(said.split("costs ")[1].split(" USD")[0].replace(",", ""))
    assert plan(dollars, LLAMA, most=1)
    with pytest.raises(Infeasible):
        plan(dollars - 0.5, LLAMA)
    with pytest.raises(Infeasible, match="no 8 like cards"):
        plan(50000, "llama-3.1-405b:bf16")


def test_cards_stand_on_risers_and_two_supplies_where_one_does_not_carry_them():
    """Four thick cards lie over one another on any board; an open frame has room."""
    found = plan(11000, LLAMA, most=1, circuit=240)[0]
    assert (len(found.gpus), len(found.risers), len(found.psu)) == (4, 4, 2)
    assert sum(dollars for _, dollars in found.bill) == found.total <= 11000


def test_a_card_without_a_rate_in_the_format_is_left_out():
    """A Tesla P40 publishes none in bf16; others do."""
    found = plan(20000, "llama-3-8b:bf16", most=1)[0]
    assert found.runs[0].decode > 0


def test_prices_are_of_the_date_and_noise_adds_as_power():
    with pytest.raises(Infeasible):
        plan(5000, LLAMA, date="2010")
    card = catalogue.part("rtx_3090", "gpu")
    assert price(card, None) >= 0 and price(card, "1999") is None
    loud = next(p for p in catalogue.parts("cooler") if "noise" in p.values)
    assert loudness([loud, loud]) == pytest.approx(loud["noise"] + 3.01, abs=0.01)
    with pytest.raises(Infeasible):
        plan(5000, LLAMA, noise=1)


@pytest.mark.parametrize(
    ("told", "wrong", "says"),
    [
        ({"budget": -5}, ValueError, "budget"),
        ({"budget": float("nan")}, ValueError, "budget"),
        ({"workloads": ()}, ValueError, "one model"),
        ({"workloads": "llama-9"}, UnknownName, "llama"),
        ({"workloads": "llama-3-8b:q9_z"}, UnknownName, "q9_z"),
        ({"workloads": None}, ValueError, "one model"),
        ({"workloads": ""}, ValueError, "its format"),
        ({"workloads": "llama-3-8b:"}, ValueError, "its format"),
        ({"date": "2025-02-30"}, ValueError, "2025-10"),
        ({"circuit": 1e9}, ValueError, "outlets"),
        ({"market": "mars"}, UnknownName, "us"),
        ({"date": "tomorrow"}, ValueError, "2025-10"),
        ({"circuit": 0}, ValueError, "circuit"),
        ({"noise": -1}, ValueError, "noise"),
        ({"batch": 0}, ValueError, "batch"),
        ({"context": 1.5}, ValueError, "context"),
    ],
)
def test_bad_input(told, wrong, says):
    given = {"budget": 5000, "workloads": SMALL} | told
    with pytest.raises(wrong, match=says):
        plan(given.pop("budget"), given.pop("workloads"), **given)
