"""Engines against one estimate: rows counted, and what is slower comes out above 1."""

import pytest

from stacklib.evidence.calibrate import engines


def test_every_engine_but_one_has_rows():
    kinds = ("served", "most", "first token", "prompt", "one sequence")
    many = {e: sum(engines.standing(e, k).rows for k in kinds) for e in engines.ENGINES}
    assert many["TGI"] == 0 and min(n for e, n in many.items() if e != "TGI") >= 10
    for engine in engines.ENGINES:
        one = engines.standing(engine)
        assert one.low <= one.middle <= one.high


def test_a_slower_engine_is_above_one_and_the_ratio_turns_round():
    over = engines.slower("vLLM", "TensorRT-LLM")
    assert over * engines.slower("TensorRT-LLM", "vLLM") == pytest.approx(1)
    assert over > 1


def test_what_has_no_rows_is_refused():
    with pytest.raises(ValueError, match="no published row of TGI"):
        engines.slower("vLLM", "TGI")
    with pytest.raises(LookupError, match="vLLM"):
        engines.standing("vLMM")
