"""No launch of these tests takes less than any part of the chip needs for its work."""

import pytest


@pytest.fixture(autouse=True)
def bounds_hold(monkeypatch):
    """Every time that is made, checked."""
    from stacklib.gpu.simt.times import Times

    made = Times.__init__

    def checked(self, *args, **named):
        made(self, *args, **named)
        for name, least in self.parts().items():
            assert least <= self.total * (1 + 1e-9), f"{name}: {least} > {self.total}"

    monkeypatch.setattr(Times, "__init__", checked)
