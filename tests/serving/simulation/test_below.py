"""Tiers below the blocks: what leaves comes back, for the time of its copy."""

from stacklib.serving import chat, simulate

MODEL = ("llama-2-7b", "h100-sxm")
BLOCK = 16 * 2 * 32 * 4096 * 2  # B of a block: keys and values of 32 layers, 16 bits
TEXT = ("s", 32)
# Read, pushed out by another prompt, and asked for again.
ROWS = [(0, 0, 33, 1, TEXT), (1, 100, 48, 1), (2, 200, 33, 2, TEXT)]


def house(rows=ROWS, **options):
    asked = {"blocks": 3, "step_time": 10e-9, **options}
    return simulate(*MODEL, rows, **asked)


def test_without_a_tier_it_is_read_again():
    assert house().requests[2].found == 0


def test_a_tier_gives_it_back_for_the_time_of_two_copies():
    found = house(tiers={"host": (10, BLOCK / 7e-9)})
    last = found.requests[2]
    assert last.found == 32
    assert (last.first, last.finished) == (200 + 10 + 2 * 7, 200 + 20 + 2 * 7)


def test_what_the_first_tier_has_no_room_for_is_in_the_second():
    tiers = {"host": (1, BLOCK / 7e-9), "drive": (10, BLOCK / 30e-9)}
    last = house(tiers=tiers).requests[2]
    assert (last.found, last.first) == (32, 200 + 10 + 7 + 30)


def test_what_the_last_tier_has_no_room_for_is_gone():
    # The last place leaves the pool first, so it is the oldest, and leaves the tier.
    last = house(tiers={"host": (1, BLOCK / 7e-9)}).requests[2]
    assert (last.found, last.first) == (16, 200 + 10 + 7)


def test_conversations_that_come_back_read_less():
    rows = chat(6, 60, seed=2)
    again = {}
    for name, tiers in (("none", None), ("host", {"host": (50_000, 50e9)})):
        found = simulate(*MODEL, rows, blocks=300, tiers=tiers)
        assert (
            found.outcome
            == simulate(*MODEL, rows, blocks=300, tiers=tiers, jump=False).outcome
        )
        again[name] = sum(each.prompt - each.found for each in found.requests)
    assert again["host"] < 0.7 * again["none"]
