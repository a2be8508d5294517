"""What ``stacklib check`` tells: results once, or on every save."""
