"""The model beside published runs: the same choice, and how far off its times are.

Nothing is fitted: rates are the table's defaults. Small sizes miss what a launch from
Python takes, and switches take longer to come up to speed than a line says.
"""

from statistics import median, quantiles

from stacklib.evidence.measurements import public
from stacklib.interconnect.selection.select import select

CHIPS = {"H200": "hopper", "H100": "hopper", "A100": "ampere", "B200": "blackwell"}
MODELLED = ("all_reduce", "all_gather", "reduce_scatter")


def rows():
    """Each published row that gives bytes and ranks, with the model's choice for it."""
    for row in public():
        chip = next((c for name, c in CHIPS.items() if name in row.system), None)
        collective = row.subject.split()[0]
        if row.family != "D" or "NCCL" not in row.software or chip is None:
            continue
        if collective not in MODELLED or "msg_bytes" not in row.config:
            continue
        ranks, size = int(row.config["ngpus"]), float(row.config["msg_bytes"])
        local = 72 if "MNNVL" in row.system else 8
        machine = {"ranks": ranks, "ranks_per_node": local, "architecture": chip}
        choice = select(collective, size, **machine)
        bus = (ranks - 1) / ranks * (2 if collective == "all_reduce" else 1)
        rates = {"ms": 1e-3, "us": 1e-6}
        measured = (
            row.value * rates[row.unit]
            if row.unit in rates
            else bus * size / (row.value * 1e9)
        )
        yield row, choice, choice.time / measured - 1


def test_the_choice_is_the_one_that_was_logged():
    """Eight H200 up to 16 GiB: rings with LL up to 1 MiB, then NVLS."""
    logged = [
        (row.config["algo"], choice)
        for row, choice, _ in rows()
        if "algo" in row.config
    ]
    assert len(logged) == 18
    for algo, choice in logged:
        assert algo.lower() == f"{choice.algorithm}/{choice.protocol}"


def test_errors_of_times_are_as_said():
    found = [(choice.size, error) for _, choice, error in rows()]
    large = [abs(error) for size, error in found if size > 1e6]
    small = [abs(error) for size, error in found if size <= 1e6]
    assert len(large) >= 60 and len(small) >= 25
    assert median(large) < 0.20 and quantiles(large, n=10)[-1] < 0.40
    assert median(small) < 0.35 and quantiles(small, n=10)[-1] < 0.65
    # A model without a launch is early: most of what it misses is time.
    assert median(error for _, error in found) < 0


def test_the_large_ends_are_near():
    ends = {row.id: error for row, choice, error in rows() if choice.size >= 1 << 30}
    assert len(ends) >= 8
    assert (
        max(abs(error) for error in ends.values()) < 0.2
    )  # GB200; H100 and H200: 0.02
    assert median(abs(error) for error in ends.values()) < 0.05
