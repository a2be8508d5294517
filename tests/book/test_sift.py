"""Tables of facts in a real browser: sorting, sifting, the address, comparison."""

import re
from functools import cache

import pytest

from stacklib import hardware
from stacklib.quantity.times import in_times

from . import browser as b

pytestmark = pytest.mark.browser

TABLE = "book/hardware/index.html"
# key, vendor and power of each row that can be seen, in order; "" is not known
SEEN = """() => [...document.querySelectorAll('#devices tbody tr:not([hidden])')]
    .map((row) => [row.id.replace('devices-', ''), row.cells[1].textContent,
                   row.cells[12].dataset.v ?? '', row.cells[12].textContent])"""


@cache
def devices():
    """All that the table holds."""
    keys = (key for key in hardware.names() if key != hardware.THIS_MACHINE)
    return [hardware.get(key) for key in keys]


@pytest.fixture
def table(visit):
    """The page of all devices and its list of faults."""
    page, faults = visit(TABLE)
    yield page
    assert not faults, "\n".join(faults)


def press(page, key: str, times: int = 1) -> str | None:
    """Sort by a column with the keyboard; what ``aria-sort`` then says."""
    head = page.locator(f'#devices th[data-key="{key}"]')
    head.locator("button").focus()
    for _ in range(times):
        page.keyboard.press("Enter")
    return head.get_attribute("aria-sort")


def powers(page) -> list[str]:
    return [power for _, _, power, _ in page.evaluate(SEEN)]


@pytest.mark.parametrize(
    ("times", "says", "sign"), [(1, "descending", -1), (2, "ascending", 1)]
)
def test_a_number_sorts_and_the_unknown_is_last(table, times, says, sign):
    assert press(table, "tdp", times) == says
    found = powers(table)
    known = [float(power) for power in found if power]
    assert found[len(known) :] == [""] * (len(found) - len(known))
    assert known == sorted(known, key=lambda v: sign * v)
    wanted = sorted(d.tdp.si for d in devices() if d.fields["tdp"] is not None)
    assert sorted(known) == pytest.approx(wanted)
    last = table.evaluate(SEEN)[-1]
    if len(known) < len(found):
        assert last[3] == "unknown"


def test_a_third_press_gives_the_first_order_back(table):
    before = table.evaluate(SEEN)
    assert press(table, "tdp", 3) is None
    assert table.evaluate(SEEN) == before


def test_a_vendor_and_a_word_leave_their_rows_and_say_how_many(table):
    table.locator("#devices-vendor").select_option("AMD")
    wanted = {d.key for d in devices() if d.vendor == "AMD"}
    assert {row[0] for row in table.evaluate(SEEN)} == wanted
    count = table.locator("#devices .st-sift-count")
    assert count.text_content() == f"{len(wanted)} of {len(devices())}"
    assert count.get_attribute("role") == "status"
    table.locator("#devices-text").fill("mi300x")
    table.wait_for_function(f"({SEEN})().length < 5")
    assert "mi300x" in {row[0] for row in table.evaluate(SEEN)}
    table.locator("#devices .st-sift-clear").click()
    assert len(table.evaluate(SEEN)) == len(devices())
    assert "#" not in table.url


def test_the_address_keeps_what_was_chosen(table):
    table.locator("#devices-vendor").select_option("Google")
    press(table, "bandwidth")
    assert re.search(r"#devices:.*vendor=Google", table.url)
    before = table.evaluate(SEEN)
    table.reload()
    assert table.evaluate(SEEN) == before
    head = table.locator('#devices th[data-key="bandwidth"]')
    assert head.get_attribute("aria-sort") == "descending"


def test_a_number_opens_with_its_unit_and_source(table):
    number = table.locator('#devices-h100_sxm .st-q[data-q$=".bandwidth"]')
    b.open_by_key(table, number)
    said = table.locator("#st-popover").inner_text()
    assert "3.35 TB/s" in said and "Source:" in said


def test_on_a_phone_the_name_stays_and_the_table_scrolls(visit):
    page, _ = visit(TABLE, "dark-phone")
    box = page.locator("#devices .st-sift-box")
    box.evaluate("e => e.scrollLeft = 600")
    name = page.locator("#devices tbody tr th").first
    assert name.bounding_box()["x"] == pytest.approx(box.bounding_box()["x"], abs=2)
    assert page.evaluate("document.documentElement.scrollWidth") <= 391


def test_without_javascript_the_table_is_whole(visit):
    page, _ = visit(TABLE, java_script_enabled=False)
    rows = page.locator("#devices tbody tr")
    assert rows.count() == len(devices()) and rows.last.is_visible()
    assert not page.locator("#devices button").count()


def test_three_devices_are_compared_by_address(visit):
    chosen = "first=h200_sxm&second=b200_sxm&third=tpu_v5p&dtype=bf16"
    page, faults = visit(f"book/hardware/compare.html#live-compare:{chosen}")
    row = page.locator(".st-live-moving .st-live-table tr", has_text="memory bandwidth")
    row.wait_for()
    first, second = (hardware.get(key) for key in ("h200_sxm", "b200_sxm"))
    ratio = second.memory_bandwidth.si / first.memory_bandwidth.si
    assert first.memory_bandwidth.text(digits=4) in row.inner_text()
    assert in_times(ratio, "times|about the same|times less", 3) in row.inner_text()
    menu = page.locator("#live-compare optgroup")
    assert {"NVIDIA", "AMD"} <= {m.get_attribute("label") for m in menu.all()[:99]}
    assert not faults, "\n".join(faults)
