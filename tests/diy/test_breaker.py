"""From the breaker to the token: each link binds in a machine built for it."""

import math

import pytest

from stacklib.diy import Build
from stacklib.diy.breaker import LIMIT, chain, temperature, tokens_per_joule, wall
from stacklib.hardware.accelerator import UnknownSpec
from stacklib.quantity import UnknownName
from stacklib.roofline.work.fit import Infeasible

from .builds import TOWER


def rig(cards="2 x rtx_3090", psu=("evga_1600_p2", "evga_1600_p2"), **told):
    return Build(**TOWER | {"gpus": cards, "psu": psu} | told)


@pytest.mark.parametrize(
    ("build", "told", "binds"),
    [
        (rig("rtx_3090"), {}, "work"),
        (rig("rtx_3090", limit=250.0), {}, "limit"),
        (rig("6 x rtx_3090"), {}, "circuit"),
        (rig("6 x rtx_3090", circuits=2), {"hours": 0.02}, "work"),
        (rig("3 x rtx_3090", psu="mpg_a1000g"), {"hours": 0.02}, "supply"),
        (rig("4 x rtx_3090", circuits=2), {"hours": 8, "ambient": 30}, "heat"),
    ],
)
def test_what_binds(build, told, binds):
    made = chain(build, **told)
    assert made.binds == binds
    assert made.wall <= made.circuit + 1e-6
    assert made.delivered <= made.supply + 1e-6
    assert made.wall == pytest.approx(wall(build, made.delivered))
    assert max(made.curve.die) <= LIMIT + 1e-9
    assert (made.speed == 1) == (binds == "work")


def test_a_card_more_on_one_circuit_is_less_speed_each_and_more_a_joule():
    two, four, six = (chain(rig(f"{n} x rtx_3090"), hours=0.2) for n in (2, 4, 6))
    assert two.speed >= four.speed >= six.speed
    a_joule = [
        tokens_per_joule(n * 30, rig(f"{n} x rtx_3090"), hours=0.2) for n in (2, 6)
    ]
    assert a_joule[1] > a_joule[0] == pytest.approx(60 * two.speed / two.wall)
    with pytest.raises(Infeasible, match=r"12 cards at .* 1,440 W"):
        chain(rig("12 x rtx_3090"))


def test_warmer_outside_is_never_faster():
    speeds = [chain(rig("4 x rtx_3090"), ambient=c).speed for c in (10, 20, 30, 40)]
    assert speeds == sorted(speeds, reverse=True)


def test_a_room_left_alone_warms_all_and_each_part_is_warmer_than_the_next():
    made = temperature(rig(), 8, 22)
    for parts in zip(made.die, made.sink, made.case, made.room, strict=True):
        assert list(parts) == sorted(parts, reverse=True)
    assert made.times[-1] == pytest.approx(8 * 3600)


def test_what_cannot_be_asked():
    with pytest.raises(Infeasible, match="3,300 W > 3,200 W"):
        wall(rig(), 3300)
    for told in ({"hours": 0}, {"ambient": math.nan}, {"work": "training"}):
        with pytest.raises((ValueError, UnknownName)):
            temperature(rig(), **({"hours": 1, "ambient": 20} | told))
    with pytest.raises(Infeasible, match="84 C though their cards do no work: 4 m2"):
        temperature(rig("4 x rtx_3090", circuits=2), 8, 22, room=4)
    for told in ({"mains": 0}, {"mains": math.nan}, {"continuous": 0}, {"room": -1}):
        with pytest.raises(ValueError, match=next(iter(told))):
            chain(rig(), **told)
    with pytest.raises(ValueError, match="tokens_per_s = 0"):
        tokens_per_joule(0, rig())
    assert 0.8 < 1000 / wall(rig(), 1000) < 1
    with pytest.raises((ValueError, UnknownSpec)):
        chain(rig(), continuous=1.5)
