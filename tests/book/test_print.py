"""A page printed from the browser: what should not be seen at once comes last."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser

STATIC = Path(__file__).parents[2] / "book" / "_static"
PAGE = """<article>
<div class="st-prediction"><details class="st-answer"><summary>Answer</summary>
<p id="answer">32</p></details></div>
<div class="st-exercise"><p class="st-exercise-title"><strong>Exercise 1.1</strong>
<span class="st-exercise-name">Divide</span></p>
<details class="st-fold"><summary>Tests</summary><p id="tests">t</p></details>
<details class="st-fold st-held"><summary>Hint</summary><p id="hint">h</p></details>
<details class="st-fold st-held"><summary>Solution</summary><p id="solution">s</p>
</details></div><p id="after">The next section.</p></article>"""
ORDER = "() => [...document.querySelectorAll('article [id]')].map((e) => e.id)"
SHOWN = "(id) => document.getElementById(id).checkVisibility()"


def test_hints_answers_and_solutions_are_printed_last_and_go_back(browser):
    with browser.new_page() as page:
        page.set_content(PAGE)
        page.add_style_tag(path=STATIC / "boxes.css")
        page.emulate_media(media="print")
        # Without the script they are not printed at all.
        assert not page.evaluate(SHOWN, "solution")
        page.add_script_tag(path=STATIC / "print.js")
        before = page.evaluate("() => document.querySelector('article').innerHTML")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        order = ["tests", "after", "answer", "hint", "solution"]
        assert page.evaluate(ORDER) == order
        assert all(page.evaluate(SHOWN, id) for id in order)
        titles = page.locator(".st-print-end h3").all_inner_texts()
        assert titles == [
            "Prediction: answer",
            "Exercise 1.1, Divide: hint",
            "Exercise 1.1, Divide: solution",
        ]
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        after = page.evaluate("() => document.querySelector('article').innerHTML")
        assert after == before


def test_every_step_of_a_drawing_is_printed(browser):
    step = '<input type="radio" name="s"{0}><label>a</label>'
    buttons = step.format(" checked") + step.format("")
    steps = "".join(f'<div class="st-step" id="{id}">{id}</div>' for id in "ab")
    with browser.new_page() as page:
        page.set_content(f'<figure class="st-drawing">{buttons}{steps}</figure>')
        page.add_style_tag(path=STATIC / "figures.css")
        assert [page.evaluate(SHOWN, id) for id in "ab"] == [True, False]
        page.emulate_media(media="print")
        assert [page.evaluate(SHOWN, id) for id in "ab"] == [True, True]
