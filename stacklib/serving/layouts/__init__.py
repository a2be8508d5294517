"""All layouts of a model on some chips, held against limits, and ranked."""
