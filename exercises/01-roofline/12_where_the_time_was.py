"""Where the time was.

level: derive

A part of a program became faster, and so did the program. Amdahl's law gives the
second gain from the first and the part's share of the old time. Turn it round, in
three ways.

- From the gain of the part and the speed-up of the whole: which share of the old
  time did the part take?
- From the share and the speed-up you want: how many times faster must the part
  become? Some wishes cannot be had; raise ValueError for those.
- From the speed-up that some workers reached: which serial share would explain it?

Try the first on the layer of this section before you run the tests.

hint: Write the new time as a sum: what was left alone, and the part over its gain.
Set the old time to one. Each answer is that equation solved for another letter. The
last one is the first with the workers as the gain, and asks for the rest.
"""

from stacklib.grading import expect
from stacklib.roofline.bound import scaling

# ---- your answer ----


def share_of_part(gain, speed_up):
    """Share of the old time, from 0 to 1, that the part took."""
    return (1 - 1 / speed_up) / (1 - 1 / gain)


def gain_needed(share, speed_up):
    """How many times faster the part must become; ValueError where none suffices."""
    left = 1 / speed_up - (1 - share)
    if left <= 0:
        raise ValueError("the rest alone takes longer")
    return share / left


def serial_share(speed_up, workers):
    """Serial share, from 0 to 1, that explains the speed-up of that many workers."""
    return 1 - share_of_part(workers, speed_up)


# ---- tests ----

SHARES = (0.05, 0.3, 0.48, 0.9)
GAINS = (1.3, 3.21, 20)


def test_share_of_part():
    expect.function_matches(
        share_of_part,
        scaling.share_from_speed_up,
        [
            {"gain": g, "speed_up": scaling.speed_up_of_part(s, g)}
            for s in SHARES
            for g in GAINS
        ],
        rel=0.001,
        mistakes={
            "That is the time the whole saved. The part saved it out of its own "
            "time, and kept some.": lambda gain, speed_up: 1 - 1 / speed_up,
            "A speed-up over a gain is no share: ask what each of them saved.": (
                lambda gain, speed_up: speed_up / gain
            ),
            "That is the part's share of the new time.": new_share,
        },
    )


def new_share(gain, speed_up):
    return scaling.share_from_speed_up(gain, speed_up) * speed_up / gain


def test_gain_needed():
    expect.function_matches(
        gain_needed,
        scaling.gain_from_speed_up,
        [
            {"share": s, "speed_up": scaling.speed_up_of_part(s, g)}
            for s in SHARES
            for g in GAINS
        ],
        rel=0.001,
    )


def test_wishes_that_cannot_be_had():
    for share in SHARES:
        limit = scaling.amdahl_limit(1 - share)
        for wish in (limit * 1.01, limit * 3):
            expect.refuses(
                gain_needed,
                {"share": share, "speed_up": wish},
                because=f"with a part of no cost it would be {limit:.3g} times faster",
            )


def test_serial_share():
    expect.function_matches(
        serial_share,
        scaling.karp_flatt,
        [
            {"speed_up": scaling.amdahl(s, n), "workers": n}
            for s in SHARES
            for n in (2, 8, 64)
        ],
        rel=0.001,
        mistakes={
            "That is the idle share of the workers, not the serial share of the "
            "work.": lambda speed_up, workers: 1 - speed_up / workers,
            "That is the part that was spread; asked is the rest.": (
                lambda speed_up, workers: 1 - scaling.karp_flatt(speed_up, workers)
            ),
        },
    )
