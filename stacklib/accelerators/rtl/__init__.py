"""The output-stationary array as hardware: described, synthesised, run as gates."""
