"""Traffic and runs that several tests share."""

from hypothesis import strategies as st

from stacklib.serving.simulation.traffic import Row


@st.composite
def traffics(draw, most=14, texts=True):
    """Rows of a small house: close together, some with a text in common."""
    rows, at = [], 0
    for number in range(draw(st.integers(1, most))):
        at += draw(st.sampled_from((0, 0, 1, 3, 10, 47)))
        prompt = draw(st.integers(1, 60))
        new = draw(st.integers(1, 40))
        prefix = 0
        if texts and draw(st.booleans()):
            name = draw(st.sampled_from("ab"))
            prefix = (name, draw(st.integers(0, prompt)))
        rows.append(Row(number, at, prompt, new, prefix))
    return rows
