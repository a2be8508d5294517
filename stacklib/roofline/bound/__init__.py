"""What a device allows: decode, products, scaling, trends."""
