"""Chapter 4: norms as one kernel."""
