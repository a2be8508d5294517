"""Section 2.4: What does the chip actually run?"""
