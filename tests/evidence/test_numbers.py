"""The number registry: names, texts, and the faults it must catch."""

import importlib

import pytest

from stacklib.evidence import numbers
from stacklib.quantity import Quantity

registry = importlib.import_module("stacklib.evidence.numbers.registry")


@pytest.fixture
def planted(monkeypatch):
    """Register into a copy, so that a planted number is gone afterwards."""
    numbers.all()
    monkeypatch.setattr(registry, "_numbers", dict(registry._numbers))


def seven_ms():
    """Seven milliseconds."""
    return Quantity(7, "ms", label="seven", kind="assumed")


def test_every_number_of_the_book_has_text_and_tree():
    found = numbers.all()
    assert found and [n.name for n in found] == sorted(n.name for n in found)
    for n in found:
        tree = n.tree()
        assert tree["text"] == n.text and tree["what"] == n.what and n.what
        assert tree["evidence"] in numbers.EVIDENCE


def test_a_predicted_number_without_validation_says_so(planted):
    numbers.number("planted.a")(seven_ms)
    assert numbers.get("planted.a").error_bar == "not yet validated"


def test_an_error_bar_quotes_both_quantiles(planted, monkeypatch):
    band = registry.hardware.ErrorBand(0.15, 0.5)
    monkeypatch.setattr(registry.hardware, "error_band", lambda family: band)
    numbers.number("planted.a", family="E_decode")(seven_ms)
    bar = numbers.get("planted.a").error_bar
    assert "15 %" in bar and "50 %" in bar


def test_a_spec_has_no_error_bar(planted):
    numbers.number("planted.a", evidence="spec")(seven_ms)
    assert numbers.get("planted.a").error_bar == ""


def test_unit_and_digits_shape_the_text(planted):
    numbers.number("planted.a", unit="µs", digits=2)(seven_ms)
    assert numbers.get("planted.a").text == "7,000 µs"


def test_a_name_registered_twice_names_both_functions(planted):
    numbers.number("planted.a")(seven_ms)
    with pytest.raises(ValueError, match=r"'planted.a'.*twice.*seven_ms.*seven_ms"):
        numbers.number("planted.a")(seven_ms)


def test_an_unknown_name_suggests_the_nearest(planted):
    numbers.number("planted.t_mem")(seven_ms)
    with pytest.raises(numbers.UnknownNumber, match=r"nearest: planted\.t_mem"):
        numbers.get("planted.tmem")


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("Planted", {}, "write it as"),
        ("planted", {}, "write it as"),
        ("planted.a", {"evidence": "guessed"}, "guessed"),
        ("planted.a", {"digits": 9}, "digits=9"),
        ("planted.a", {"digits": 0}, "digits=0"),
    ],
)
def test_a_malformed_registration_is_refused(planted, name, options, says):
    with pytest.raises(ValueError, match=says):
        numbers.number(name, **options)(seven_ms)


def test_a_number_without_docstring_is_refused(planted):
    with pytest.raises(ValueError, match="docstring"):
        numbers.number("planted.a")(lambda: Quantity(1))


def test_a_bare_float_is_not_a_number(planted):
    def bare():
        """A float."""
        return 7.0

    numbers.number("planted.a")(bare)
    with pytest.raises(TypeError, match=r"planted\.a.*7\.0"):
        numbers.get("planted.a").tree()
