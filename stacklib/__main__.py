"""``python -m stacklib`` runs the command line."""

from stacklib.cli import main

raise SystemExit(main())
