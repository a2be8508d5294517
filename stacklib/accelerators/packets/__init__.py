"""Instructions that issue together: slots, packers, and five ways to organise them."""
