"""Files of measurements: read strictly, faults of a row kept with the row."""

import csv
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacklib.evidence import measurements
from stacklib.evidence.measurements import (
    COLUMNS,
    Measurement,
    MeasurementError,
    Refusal,
    number,
    read,
    read_config,
)

ROW = {
    "id": "A-1",
    "family": "A",
    "system": "H100",
    "software": "x",
    "model_or_kernel": "GEMM",
    "config": "m=16;n=32;k=64;dtype=fp8;compile",
    "metric": "latency",
    "value": "0.5",
    "unit": "ms",
    "source": "repo a/b",
    "source_date": "2025-01-01",
    "confidence": "saw",
    "notes": "",
}


def write(path, rows, columns=COLUMNS, encoding="utf-8", newline="\n"):
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, lineterminator=newline)
        writer.writerow(columns)
        writer.writerows([[row.get(c, "") for c in columns] for row in rows])
    return path


def one(tmp_path, **changed):
    return read(write(tmp_path / "m.csv", [{**ROW, **changed}]))[0]


def test_the_book_has_every_published_row_and_one_of_them_has_no_ratio():
    rows = measurements.public()
    counts = Counter(row.family for row in rows)
    assert len(rows) == 2026
    assert counts == {
        "A": 334,
        "B": 232,
        "C": 108,
        "D": 198,
        "E": 583,
        "F": 112,
        "G": 99,
        "H": 45,
        "I": 43,
        "J": 272,
    }
    assert [row.id for row in rows if row.fault] == ["J-0327"]  # a stall of 0 %


def test_the_books_files_are_sound_and_no_id_stands_in_two():
    known = measurements.fitted() + measurements.unseen()
    known += measurements.left_out() + measurements.series()
    new = measurements.shapes()
    rows = tuple(dict.fromkeys((*known, *new)))
    assert len({row.id for row in rows}) == len(rows) > 3500
    assert Counter(row.family for row in new) == {"A": 646, "B": 708, "D": 184}
    assert [row.id for row in rows if row.fault] == ["J-0327"]


def test_every_field_comes_from_its_column(tmp_path):
    row = one(tmp_path, notes="a, b\nc", software='say "x"')
    assert (row.id, row.family, row.system, row.subject) == ("A-1", "A", "H100", "GEMM")
    assert (row.metric, row.value, row.unit) == ("latency", 0.5, "ms")
    assert (row.source, row.date, row.confidence) == ("repo a/b", "2025-01-01", "saw")
    assert row.notes == "a, b\nc" and row.software == 'say "x"'
    assert row.config == {
        "m": "16",
        "n": "32",
        "k": "64",
        "dtype": "fp8",
        "compile": True,
    }


def test_the_series_are_of_ten_authors_and_no_fit_sees_them():
    rows = measurements.series()
    assert {row.family for row in rows} == {"K"} and len(rows) == 140
    names = {row.text("series") for row in rows}
    assert len(names) == 21 and len({name.split("-")[0] for name in names}) == 10
    assert not set(rows) & set(measurements.fitted() + measurements.left_out())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_byte_order_marks_and_line_ends_do_not_matter(tmp_path, encoding, newline):
    path = write(
        tmp_path / "m.csv", [ROW, {**ROW, "id": "A-2"}], COLUMNS, encoding, newline
    )
    rows = read(path)
    assert [(r.id, r.fault) for r in rows] == [("A-1", ""), ("A-2", "")]


def test_columns_may_stand_in_any_order(tmp_path):
    path = write(tmp_path / "m.csv", [ROW], tuple(reversed(COLUMNS)))
    assert read(path)[0].value == 0.5


@pytest.mark.parametrize(
    "columns, says",
    [
        (COLUMNS[:-1], "column 'notes' is missing"),
        ((*COLUMNS, "extra"), "unknown column 'extra'"),
        ((*COLUMNS, "value"), "column 'value' appears twice"),
        (("a",), "column 'id' is missing"),
    ],
)
def test_other_columns_are_an_error_of_the_file(tmp_path, columns, says):
    with pytest.raises(MeasurementError, match=says):
        read(write(tmp_path / "m.csv", [ROW], columns))


def test_an_empty_file_a_missing_file_and_a_folder_are_named(tmp_path):
    (tmp_path / "m.csv").write_text("")
    with pytest.raises(MeasurementError, match=r"m\.csv is empty"):
        read(tmp_path / "m.csv")
    with pytest.raises(MeasurementError, match="No such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(MeasurementError, match="directory"):
        read(tmp_path)


def test_a_file_of_another_kind_is_an_error(tmp_path):
    (tmp_path / "m.csv").write_bytes("id,family".encode("utf-16"))
    with pytest.raises(MeasurementError, match="column 'id' is missing"):
        read(tmp_path / "m.csv")
    (tmp_path / "m.csv").write_text(",".join(COLUMNS) + '\n"' + "x" * 200_000)
    with pytest.raises(MeasurementError, match="not a CSV file"):
        read(tmp_path / "m.csv")


def test_a_header_alone_has_no_rows(tmp_path):
    assert read(write(tmp_path / "m.csv", [])) == []


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"value": ""}, "value is empty"),
        ({"value": "nan"}, "'nan' is not a number"),
        ({"value": "inf"}, "'inf' is not a number"),
        ({"value": "1e999"}, "'1e999' is not finite"),
        ({"value": "0"}, "'0' is not above zero"),
        ({"value": "-3"}, "'-3' is not above zero"),
        ({"value": "1,358"}, "'1,358' is not a number"),
        ({"value": "1_000"}, "'1_000' is not a number"),
        ({"value": "٣"}, "is not a number"),
        ({"value": "0x10"}, "'0x10' is not a number"),
        ({"family": "Z"}, "unknown family 'Z'"),
        ({"family": "a"}, "unknown family 'a'"),
        ({"family": ""}, "family is empty"),
        ({"unit": " "}, "unit is empty"),
        ({"metric": ""}, "metric is empty"),
        ({"id": ""}, "id is empty"),
        ({"config": "m=1;m=2"}, "gives 'm' twice"),
        ({"config": "=4"}, "'=4' has no key"),
    ],
)
def test_a_bad_cell_is_kept_with_its_reason_and_no_number(tmp_path, changed, says):
    row = one(tmp_path, **changed)
    assert says in row.fault
    assert row.value != row.value


def test_rows_of_other_lengths_are_named_by_their_line(tmp_path):
    path = write(tmp_path / "m.csv", [ROW])
    text = path.read_text()
    path.write_text(text + "A-2,A\n\n" + text.splitlines()[1] + ",more\n")
    sound, short, long = read(path)
    assert not sound.fault
    assert short.fault == "line 3 has 2 cells, not 13"
    assert long.fault == "line 5 has 14 cells, not 13"


def test_a_row_without_id_is_named_by_its_line(tmp_path):
    rows = read(write(tmp_path / "m.csv", [ROW, {**ROW, "id": ""}]))
    assert rows[1].id == "line 3"


def test_an_id_that_comes_again_is_refused_the_first_is_kept(tmp_path):
    rows = read(write(tmp_path / "m.csv", [ROW, {**ROW, "value": "9"}]))
    assert rows[0].value == 0.5 and not rows[0].fault
    assert rows[1].fault == "this id came before"


def test_bytes_that_are_not_utf8_refuse_their_row_alone(tmp_path):
    path = write(tmp_path / "m.csv", [ROW, {**ROW, "id": "A-2"}])
    path.write_bytes(path.read_bytes().replace(b"A-1", b"A-\xb51"))
    bad, sound = read(path)
    assert "not UTF-8" in bad.fault and bad.id == "A-\ufffd1"
    bad.id.encode()  # printable
    assert not sound.fault


def test_ten_thousand_rows_a_second_are_read(tmp_path):
    rows = [{**ROW, "id": f"A-{i}", "config": f"m={i};n=8"} for i in range(20_000)]
    path = write(tmp_path / "m.csv", rows)
    start = time.process_time()
    found = read(path)
    assert len(found) == 20_000 and found[-1].integer("m") == 19_999
    assert time.process_time() - start < 2


def row_of(config):
    return Measurement(
        "A-1", "A", "", "", "", config, "latency", 1.0, "ms", "", "", "", ""
    )


def test_settings_are_read_by_kind():
    row = row_of("m=16;size=1.5e6;dtype=fp8;Compile; ;batch/dp=32;mem=800GB/s")
    assert row.integer("m") == 16 and row.number("size") == 1.5e6
    assert row.text("dtype") == "fp8" and row.text("mem") == "800GB/s"
    assert row.has("compile") and not row.has("dtype") and not row.has("none")
    assert row.integer("tp", 1) == 1 and row.number("x", 0.5) == 0.5
    assert row.text("y", "z") == "z" and row.integer("batch/dp") == 32


@pytest.mark.rows(
    "config, ask, says",
    [
        ("n=1", lambda r: r.integer("m"), "config does not give 'm'"),
        ("m=x", lambda r: r.integer("m"), "m='x': a whole number is needed"),
        ("m=", lambda r: r.integer("m"), "m='': a whole number"),
        ("m", lambda r: r.integer("m"), "m='': a whole number"),
        ("m=1.5", lambda r: r.integer("m"), "m=1.5: a whole number from 1 on"),
        ("m=0", lambda r: r.integer("m"), "m=0: a whole number from 1 on"),
        ("m=-4", lambda r: r.integer("m", 7), "m=-4"),
        ("m=nan", lambda r: r.number("m"), "m='nan': a number"),
        ("m=1e999", lambda r: r.number("m"), "m='1e999': a number"),
        ("m", lambda r: r.text("m"), "m='': a value"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_by_name(config, ask, says):
    with pytest.raises(Refusal, match="config") as refused:
        ask(row_of(config))
    assert says in str(refused.value)


def test_zero_is_allowed_where_the_reader_says_so():
    assert row_of("causal=0").integer("causal", least=0) == 0


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]{1,5}", fullmatch=True),
        st.from_regex(r"[a-z0-9./]{1,6}", fullmatch=True),
    )
)
def test_settings_come_back_as_they_were_written(config):
    text = ";".join(f"{k}={v}" for k, v in config.items())
    assert read_config(text) == (config, "")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_a_program_prints_is_read_back(value):
    assert number(repr(value)) == value


@given(st.text(max_size=12))
def test_text_is_a_finite_number_or_an_error(text):
    try:
        value = number(text)
    except ValueError:
        return
    assert abs(value) < float("inf") and "_" not in text
