"""What is public is documented and shown."""

from _tools import docs


def test_every_public_name_is_documented_and_shown():
    faults = docs.faults()
    assert faults == [], "\n".join(faults)


def bare(batch):
    return batch


def undescribed(batch):
    """Seconds a step takes."""
    return batch


def described(batch):
    """Seconds a step of `batch` sequences takes."""
    return batch


def sectioned(batch, context):
    """Seconds a step takes.

    Parameters
    ----------
    batch, context : int
        Sequences, and tokens of each.
    """
    return batch * context


def silent(batch):
    """Seconds a step of `batch` sequences takes."""
    if batch < 1:
        raise ValueError(f"batch = {batch}")
    return batch


def loud(batch):
    """Seconds a step of `batch` sequences takes; ValueError below one."""
    if batch < 1:
        raise ValueError(f"batch = {batch}")
    return batch


def test_a_planted_fault_is_named():
    assert list(docs.thing_faults("bare", bare)) == ["bare has no docstring"]
    assert list(docs.thing_faults("undescribed", undescribed)) == [
        "undescribed takes batch and does not say what that is"
    ]
    assert list(docs.thing_faults("silent", silent)) == [
        "silent raises ValueError and does not say so"
    ]


def test_what_is_documented_passes():
    for function in (described, sectioned, loud):
        assert list(docs.thing_faults("f", function)) == []


def test_a_made_up_dataclass_signature_is_no_docstring():
    made_up = type("Row", (), {"__doc__": "Row(batch: int)"})
    assert docs.own_doc(made_up) == ""


def test_a_room_without_a_page_is_named(tmp_path):
    assert docs.page_faults("roofline", tmp_path) == [
        "book/api/roofline.md does not exist; it should show stacklib.roofline"
    ]
    (tmp_path / "book" / "api").mkdir(parents=True)
    page = tmp_path / "book" / "api" / "roofline.md"
    page.write_text("# Roofline")
    assert docs.page_faults("roofline", tmp_path) == [
        "book/api/roofline.md does not show stacklib.roofline"
    ]
    page.write_text("```{automodule} stacklib.roofline\n```")
    assert docs.page_faults("roofline", tmp_path) == []
