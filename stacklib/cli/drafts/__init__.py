"""What ``stacklib new`` writes: stubs, sections, numbers."""
