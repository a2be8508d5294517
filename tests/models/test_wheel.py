"""The 89 released configs of aiconfigurator-core 0.12.0, where that is installed."""

import json
from pathlib import Path

import pytest

from stacklib import models
from stacklib.models import ConfigError, from_hf_config
from stacklib.models.rows import config_of

HERE = Path(__file__).parent
WHEEL = json.loads((HERE / "wheel.json").read_text())
RELEASES = json.loads((HERE / "releases.json").read_text())


def fact(name):
    """The model of a row or of a public config, both held to a published count."""
    held = RELEASES[name]["config"] if name in RELEASES else config_of(name)
    return from_hf_config(held)


@pytest.mark.slow
def test_every_config_of_the_wheel_counts_as_its_release_or_is_refused_by_name():
    wheel = pytest.importorskip("aiconfigurator_core")
    folder = Path(wheel.__file__).parent / "model_configs"
    listed = {file: name for name, files in WHEEL.items() for file in files}
    there = {p.name.removesuffix("_config.json") for p in folder.glob("*_config.json")}
    assert {name for name in there if not name.endswith("_hf_quant")} == set(listed)
    for file, name in listed.items():
        path = folder / f"{file}_config.json"
        if name.startswith("refused: "):
            with pytest.raises(ConfigError, match=name.removeprefix("refused: ")):
                from_hf_config(path)
            continue
        model, held = from_hf_config(path), fact(name)
        assert model.kinds == held.kinds and model.pattern == held.pattern, file
        assert model.vision in (0, held.vision), file  # some files leave the tower out
        text = model.parameters.si - model.vision
        assert text == held.parameters.si - held.vision, file


def test_the_table_of_the_wheel_names_models_that_are_held():
    files = [file for listed in WHEEL.values() for file in listed]
    assert len(files) == len(set(files)) == 89
    refused = [name for name in WHEEL if name.startswith("refused: ")]
    assert sum(len(WHEEL[name]) for name in refused) == 3
    assert set(WHEEL) - set(refused) <= {*RELEASES, *models.names()}
