"""The AI hardware stack, computed: the package under *From Transistor to Token*.

Rooms are imported by name (``from stacklib import hardware, roofline``);
importing the package itself loads none of them.
"""

__version__ = "0.1.0"
