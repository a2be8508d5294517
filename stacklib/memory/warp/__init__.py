"""What a warp's addresses cost: sectors, banks, layouts, swizzles."""
