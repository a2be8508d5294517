"""Which slots, and how many lanes the fourth card gets.

level: build

A board wires `wired[slot]` lanes to each slot. `shares` lists what a card takes from
another: `(slot, other, lanes)` says that `slot` keeps that many once `other` is in use;
where several apply, the fewest are left. Suppose these rules are all.

- `left(wired, shares, used)`: lanes of each slot in `used`, as a list in that order.
- `worst(wired, shares, many)`: put `many` cards into the slots so that the card with
  the fewest lanes has as many as can be; give those lanes. More cards than slots: raise
  `ValueError`.
Then see which slots `diy.verify` takes on a board of yours.

hint: Four slots of seven are few enough choices to try them all.
"""

from itertools import combinations

from stacklib.grading import expect

# ---- your answer ----


def left(wired, shares, used):
    """Lanes of each slot in use."""
    return [
        min([wired[s], *(n for slot, by, n in shares if slot == s and by in used)])
        for s in used
    ]


def worst(wired, shares, many):
    """Lanes of the slowest card, at best."""
    if many > len(wired):
        raise ValueError(f"{many} cards for {len(wired)} slots")
    return max(min(left(wired, shares, used)) for used in combinations(wired, many))


# ---- tests ----

DESKTOP = {"A": 16, "B": 8, "C": 4, "D": 4}, [("A", "B", 8)]
SERVER = {f"slot {n}": 16 for n in range(1, 8)}, [("slot 2", "slot 3", 8)]
OLD = {"E1": 16, "E2": 8, "E3": 16, "E4": 8}, [("E1", "E2", 8), ("E3", "E4", 4)]
BOARDS = (DESKTOP, SERVER, OLD)


def test_left():
    cases = [
        {"wired": wired, "shares": shares, "used": used}
        for wired, shares in BOARDS
        for many in (1, 2, 4)
        for used in list(combinations(wired, many))[:6]
    ]
    for case in cases:
        right = []
        for slot in case["used"]:
            lanes = case["wired"][slot]
            for one, by, kept in case["shares"]:
                if one == slot and by in case["used"]:
                    lanes = min(lanes, kept)
            right.append(lanes)
        expect.equal(list(left(**case)), right)


def test_worst():
    cases = [
        {"wired": w, "shares": s, "many": many}
        for w, s in BOARDS
        for many in (1, 2, 3, 4)
    ]

    def alone(wired, shares, many):
        return sorted(wired.values(), reverse=True)[many - 1]

    def first(wired, shares, many):
        used = list(wired)[:many]
        kept = [n for slot, by, n in shares if slot in used and by in used]
        return min([wired[slot] for slot in used] + kept)

    def right(wired, shares, many):
        return max(
            first({s: wired[s] for s in way}, shares, many) for way in ways(wired, many)
        )

    def ways(wired, many):
        return list(combinations(list(wired)[::-1], many))

    told = {
        "A card in one slot takes lanes from another: share them.": alone,
        "The first slots are not the best: try other ones.": first,
    }
    expect.function_matches(worst, right, cases, rel=1e-9, mistakes=told)
    expect.reading("lanes of the fourth card", worst(*DESKTOP, 4))


def test_more_cards_than_slots_are_refused():
    case = {"wired": DESKTOP[0], "shares": DESKTOP[1], "many": 5}
    expect.refuses(worst, case, because="a fifth card has no slot")
