"""``verify``: every rule of a build, each broken one with its sum and its mend.

A rule whose field nobody told is *undecided*: that is a finding, too, and no pass. The
rules stand in ``rules_fit``, ``rules_lanes`` and ``rules_power``; each is asked of the
same build, and what it says is independent of the others.
"""

from __future__ import annotations

from stacklib.hardware.accelerator import UnknownSpec
from stacklib.quantity.bounds import above_zero, share

from . import rules_fit, rules_lanes, rules_power  # they enter their rules
from .build import Build
from .findings import Broken, Finding
from .mending import Mender
from .rules import RULES, Case, Rule

_ROOMS = [room.__name__ for room in (rules_fit, rules_lanes, rules_power)]
for _id in sorted(RULES, key=lambda id: _ROOMS.index(RULES[id].all.__module__)):
    RULES[_id] = RULES.pop(_id)  # whichever room was imported first
MAINS = (90, 277)  # V: what a supply of a household can hang on


def outlet(**volts: float) -> None:
    """Raise ValueError for a voltage that no outlet has."""
    above_zero(**volts)
    least, most = MAINS
    for name, value in volts.items():
        if not least <= value <= most:
            raise ValueError(f"{name} = {value!r}: {least} to {most} V are outlets'")


def verify(
    build: Build, *, mains: float = 120, continuous: float = 0.8
) -> list[Finding]:
    """What is wrong with a build, the broken rules first.

    Parameters
    ----------
    build : Build
        The machine.
    mains : float
        Voltage of the outlet; below 200 V the circuit has 15 A, else 16 A.
    continuous : float
        Share of a breaker that may be drawn for hours.

    Returns
    -------
    list of Finding
        Empty where every rule holds. Each broken rule has the sum, the part that breaks
        it and the cheapest change that mends it; a rule that needs an unknown field is
        undecided, and does not pass.

    Raises
    ------
    ValueError
        For a voltage that no outlet has, or a share above 1.
    UnknownName
        For a slot that the board does not have.

    Examples
    --------
    >>> rig = Build(gpus="2 x rtx_5090", cpu="7960x", board="wrx90e_sage_se",
    ...     memory="renegade_pro_128", psu="straight_power_12_1500",
    ...     storage="990_pro_4tb", case="enthoo_pro_2_server", cooling="xe360_tr5")
    >>> for found in verify(rig):
    ...     print(found.rule, "-", found.mend.says)
    series - board: Gigabyte TRX50 AERO D
    supply - limit: each card to 500 W
    circuit - mains: an outlet of 240 V, if the supply takes it
    """
    outlet(mains=mains)
    share(continuous=continuous)
    case = Case(build, mains, continuous)
    broken: list[tuple[Rule, Broken]] = []
    undecided = []
    for rule in RULES.values():
        try:
            if found := rule.check(case):
                broken.append((rule, found))
        except UnknownSpec as wrong:
            says, why = f"{rule.title} It cannot be decided.", str(wrong)
            part = why.split(":")[0]
            undecided.append(Finding(rule.id, "undecided", says, why, part, ()))
    mender = Mender(case, [rule for rule, _ in broken], [f.rule for f in undecided])
    findings = []
    for rule, found in broken:
        told = (found.says, found.sum(), found.part.name, found.sources())
        mend = mender.mend(rule, found.part)
        findings.append(Finding(rule.id, "broken", *told, mend, found.need, found.have))
    return findings + undecided
