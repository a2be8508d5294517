"""``python -m stacklib.cli`` runs the command line."""

from . import main

raise SystemExit(main())
