"""The machines of a budget: how long the search takes, and what CP-SAT finds.

    python benchmarks/plan_search.py   # -> results/plan_search.json

Three budgets, three workloads, the whole catalogue, each plan in a process of its own,
so that nothing is kept. CP-SAT (OR-tools) is given the same rules: it proposes the
cheapest machine around the same cards, each rule that breaks becomes a clause, and so
on until none breaks. Both end at the same dollars, or the file says how far apart.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import host_common

from stacklib.cost import catalogue
from stacklib.diy import planning
from stacklib.diy.build import KIND_OF
from stacklib.diy.planned import Planned
from stacklib.diy.platforms import CHOSEN, Offer, Partial
from stacklib.diy.rules import RULES
from stacklib.roofline.host import measure as host

STEM = "plan_search"
ROUNDS = 5
BUDGETS = (5000, 10000, 20000)
WORKLOADS = ("llama-3-70b:q4_k_m", "qwen3-32b:q4_k_m", "gpt-oss-20b:mxfp4")
CENT = 100


def searched(budget: float) -> planning.Search:
    """The search of a budget over the whole catalogue."""
    parts = {kind: catalogue.parts(kind) for kind in set(KIND_OF.values())}
    return planning.Search(budget, WORKLOADS, parts)


def choice_of(search: planning.Search, build: Planned) -> planning.Choice:
    """The cards of a planned build, on the links that its price is of."""
    for link in (1.0, planning.HALF):
        choice = planning.Choice(build.gpus[0], len(build.gpus), build.limit, link)
        found = search.machine(choice, search.budget)
        if found and found[0] == build.total:
            return choice
    raise SystemExit(f"{build.total} USD: not the price of any of its links")


def by_cp_sat(search: planning.Search, choice: planning.Choice) -> float:
    """Dollars of the cheapest machine around some cards, by OR-tools."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    rows = {field: search.known[field] for field in CHOSEN}
    chosen = {
        field: [model.new_bool_var(f"{field} {i}") for i in range(len(offers))]
        for field, offers in rows.items()
    }
    for each in chosen.values():
        model.add_exactly_one(each)
    model.minimize(
        sum(
            round(CENT * offer.dollars) * var
            for field in CHOSEN
            for offer, var in zip(rows[field], chosen[field], strict=True)
        )
    )
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    while True:
        if solver.solve(model) != cp_model.OPTIMAL:
            return float("inf")
        picked = {
            field: next(i for i, var in enumerate(chosen[field]) if solver.value(var))
            for field in CHOSEN
        }
        clauses = list(broken(search, choice, rows, picked))
        if not clauses:
            return solver.objective_value / CENT + search.paid(choice)
        for looked in clauses:
            mine = [field for field in looked if field in CHOSEN]
            model.add_bool_or([chosen[f][picked[f]].negated() for f in mine])


def broken(
    search: planning.Search,
    choice: planning.Choice,
    rows: Mapping[str, Sequence[Offer]],
    picked: Mapping[str, int],
) -> Iterator[tuple[str, ...]]:
    """The fields that each broken rule looked at."""
    partial = Partial({"gpus": (choice.card,) * choice.many, "limit": choice.limit})
    for field, at in picked.items():
        partial.choose(field, rows[field][at])
    limits = search.limits(choice)
    for name in (*RULES, *limits):
        verdict = search.judge.asked(name, partial, limits.get(name))
        if not verdict.holds:
            yield verdict.looked


def once(budget: float) -> dict[str, Any]:
    """CPU seconds of one plan in this process, and its first machine.

    Imports and tables are read before, by a plan for another model.
    """
    planning.plan(3000, "llama-2-7b:q8_0", most=1)
    began = time.process_time()
    found: Any = planning.plan(budget, WORKLOADS)
    took = time.process_time() - began
    first = found[0]
    cards = f"{len(first.gpus)} x {first.gpus[0].key}"
    return {"time_s": took, "cards": cards, "dollars": first.total}


def compare(budget: float) -> tuple[float, float, float]:
    """Dollars of our cheapest machine, CP-SAT's, and its seconds."""
    search = searched(budget)
    first: Any = planning.plan(budget, WORKLOADS, most=1)[0]
    choice = choice_of(search, first)
    ours = search.machine(choice, budget)
    began = time.process_time()
    theirs = by_cp_sat(searched(budget), choice)
    return (ours[0] if ours else float("inf")), theirs, time.process_time() - began


def measure() -> dict[str, Any]:
    """All budgets."""
    watch, rows = host.Watch(), []
    for budget in BUDGETS:
        runs = []
        for _ in range(ROUNDS):
            line = [sys.executable, __file__, str(budget)]
            runs.append(json.loads(subprocess.check_output(line, text=True)))
        ours, theirs, took = compare(budget)
        rows.append(
            {
                "id": f"{budget} USD",
                "cards": runs[0]["cards"],
                "dollars": runs[0]["dollars"],
                "times_s": [run["time_s"] for run in runs],
                "cheapest": ours,
                "cp_sat": theirs,
                "cp_sat_s": took,
                "differs": abs(ours - theirs),
            }
        )
    why = "the peer's optimum is the prediction: the same dollars"
    return host_common.head(STEM, None, watch, rows=rows, why_no_prediction=why)


def main() -> int:
    """Measure, show and write; with a budget, one round of it."""
    if len(sys.argv) > 1:
        print(json.dumps(once(float(sys.argv[1]))))
        return 0
    result = measure()
    for row in result["rows"]:
        print(row["id"], row["cards"], min(row["times_s"]), row["differs"])
    host_common.save(host_common.HERE, STEM, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
