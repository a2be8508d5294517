"""Commands about serving many: layouts and prices."""
