"""Bad input is refused with the value and the fix; a file makes the same build."""

import math
import tomllib

import pytest

from stacklib.cost.catalogue import part
from stacklib.diy import Build, read_build, verify
from stacklib.diy.placing import place
from stacklib.quantity import UnknownName

from .builds import DESK, RACK, other


def toml(fields: dict) -> str:
    return "\n".join(f"{field} = {value!r}" for field, value in fields.items())


def test_a_file_gives_the_build_that_its_names_give():
    assert read_build(toml(RACK)) == Build(**RACK)
    assert tomllib.loads(toml(RACK))["gpus"] == "2 x rtx_3090"
    twice = Build(**{**RACK, "gpus": ["rtx_3090", part("rtx_3090", "gpu")]})
    assert twice == Build(**RACK)


@pytest.mark.parametrize(
    "changes, says",
    [
        ({"gpus": "rtx_5091"}, "unknown gpu 'rtx_5091'"),
        ({"cpu": "7960y"}, "did you mean: 7960x"),
        ({"cpu": ["9950x", "9950x"]}, "one cpu fits, not 2"),
        ({"gpus": []}, "a build needs a gpu"),
        ({"board": ""}, "a board is named by text, not ''"),
        ({"board": None}, "write the name of a board"),
        ({"gpus": 4}, "gpus = 4: write the name"),
        ({"gpus": [4]}, "gpus = 4: a gpu is named by text"),
        ({"gpus": "0 x rtx_4080"}, "1 to 64 of one part"),
        ({"gpus": "65 x rtx_4080"}, "1 to 64 of one part"),
        ({"cpu": part("rtx_4080", "gpu")}, "is a gpu, no cpu"),
        ({"circuits": 0}, "circuits = 0"),
        ({"circuits": True}, "circuits = True"),
        ({"circuits": 2}, "1 supplies hang on 1 at most"),
        ({"limit": math.nan}, "limit = nan"),
        ({"limit": -5}, "limit = -5"),
        ({"limit": True}, "limit = True"),
        ({"peer": 1}, "peer = 1: true or false"),
        ({"slots": ["PCIEX16_1", "PCIEX16_2"]}, "slots: 2 for 1 cards"),
        ({"slots": 5}, "slots = 5: write the names"),
        ({"gpus": "2 x rtx_5080", "slots": ["PCIEX16_1"]}, "slots: 1 for 2 cards"),
        ({"cables": "nvlink_4_slot"}, "carries no power"),
        ({"bridges": "native_8"}, "is no bridge"),
    ],
)
def test_bad_input_is_refused(changes, says):
    with pytest.raises((ValueError, UnknownName)) as caught:
        Build(**{**DESK, **changes})
    assert says in str(caught.value)


NO_BUILD = [
    ("gpus = ", "no build in TOML"),
    ("gpu = 'rtx_4080'", "did you mean: gpus"),
    ("gpus = 'rtx_4080'", "the build lacks cpu, board"),
    ("", "the build lacks gpus"),
]
NO_OUTLET = [
    *(("mains", v) for v in (math.nan, math.inf, 0, -120, 12, 400, True, "120")),
    *(("continuous", share) for share in (math.nan, -1, 1.5, True)),
]


@pytest.mark.parametrize("text, says", NO_BUILD)
def test_a_file_that_is_no_build_is_refused(text, says):
    with pytest.raises((ValueError, UnknownName)) as caught:
        read_build(text)
    assert says in str(caught.value)


@pytest.mark.parametrize("name, value", NO_OUTLET)
def test_an_outlet_or_a_share_that_is_none_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        verify(Build(**DESK), **{name: value})


def test_slots_are_named_as_the_board_has_them():
    with pytest.raises(ValueError, match="one card to a slot"):
        verify(Build(**{**RACK, "slots": ["PCIE1", "PCIE1"]}))
    with pytest.raises(UnknownName, match="did you mean"):
        verify(Build(**{**RACK, "slots": ["PCIE9", "PCIE1"]}))


def test_cards_are_placed_where_they_keep_lanes_and_room():
    seats = place(Build(**{**RACK, "gpus": "2 x rtx_3090"})).seats
    assert seats[1].slot.at - seats[0].slot.at >= 3
    both = place(Build(**{**DESK, "gpus": "2 x rtx_a4000"})).seats
    assert [(s.slot.name, s.lanes) for s in both] == [
        ("PCIEX16_1", 8),
        ("PCIEX16_2", 8),
    ]


def test_the_placing_is_the_best_of_all():
    """Against all ways, tried one by one: no fewer lanes and no more covered slots."""
    board = other("romed8_2t", "board", shares=(("PCIE3", "PCIE4", 8),))
    seats = place(Build(**{**RACK, "board": board, "gpus": "3 x rtx_a4000"})).seats
    assert [seat.lanes for seat in seats] == [16, 16, 16]


def test_a_card_that_has_no_row_is_known_by_its_device():
    found = verify(Build(**{**DESK, "gpus": "rtx_3080"}))
    assert {f.verdict for f in found} == {"undecided"}
    assert any("length" in f.sum for f in found)
