"""Maps of the chapters: where in the machine each section plays."""
