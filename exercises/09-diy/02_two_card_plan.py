"""A machine of two cards that survives the checker, each choice with its rule.

level: build
project: P9.1

Plan a machine with two cards that runs Llama-3-70B as `q4_k_m`, and defend it.
`stacklib.diy.Build` takes parts by name; `cost.parts("board")` lists what there is, and
`stacklib plan --verify` says which rule a list breaks.

- `plan()`: the build, as a dict of `Build`'s arguments.
- `defended()`: for each of `"board"`, `"psu"` and `"memory"` what would cost less in
  the place of yours, and the id of a rule that this alone would break, such as
  `{"board": ("proart_z790", "socket"), ...}`.

Suppose it stands on an outlet of 120 V, may cost 7,000 dollars at the newest prices,
and shall write 25 tokens a second by tensors, estimated; and it keeps every rule.

hint: Begin with what `stacklib plan --budget 7000 --run llama-3-70b:q4_k_m` prints,
then make it worse, one part at a time: so you learn what each part is for.
"""

from stacklib.diy import Build, speed, verify
from stacklib.grading import expect

# ---- your answer ----


def plan():
    """Two cards, and what carries them."""
    return {
        "gpus": "2 x rtx_3090",
        "cpu": "epyc_7302",
        "board": "h12ssl_i",
        "memory": "8 x ksm32r_32",
        "psu": "evga_1600_p2",
        "storage": "990_pro_2tb",
        "case": "open_frame_8",
        "cooling": "nh_u14s_tr4",
    }


def defended():
    """What costs less in the place of each, and the rule that it breaks."""
    return {
        "board": ("proart_z790", "socket"),
        "psu": ("mwe_gold_1250", "plugs-8"),
        "memory": ("4 x ksm32r_32", "channels"),
    }


# ---- tests ----

RUN, BUDGET, RATE = "llama-3-70b:q4_k_m", 7000, 25


def rules(build):
    """Ids of the rules that a build breaks, or cannot decide."""
    return sorted({found.rule for found in verify(build)})


def test_the_plan_keeps_every_rule():
    broken = rules(Build(**plan()))
    if broken:
        raise expect.Mistake(f"it breaks {', '.join(broken)}: a plan keeps every rule")


def test_the_plan_fits_the_budget():
    dollars = Build(**plan()).dollars
    expect.reading("dollars", dollars)
    if dollars > BUDGET:
        raise expect.Mistake(f"{dollars:,.0f} USD > {BUDGET:,} USD of the budget")


def test_two_cards_are_fast_enough():
    build = Build(**plan())
    expect.equal(len(build.gpus), 2)
    found = speed(build, RUN, split="tensors")
    expect.reading("tokens a second", found.decode)
    if found.decode < RATE:
        raise expect.Mistake(f"{found.decode:.3g} tokens/s < {RATE} tokens/s")


def test_each_choice_is_defended_by_a_rule():
    own = Build(**plan())
    for field in ("board", "psu", "memory"):
        value, rule = defended()[field]
        other = own.with_(**{field: value})
        if other.dollars >= own.dollars:
            raise expect.Mistake(f"{field}: {value} costs no less than yours")
        if rule not in (broken := rules(other)):
            told = ", ".join(broken) or "none"
            raise expect.Mistake(f"{field}: {value} breaks {told}, and not {rule}")
