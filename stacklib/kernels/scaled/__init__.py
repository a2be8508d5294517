"""Products of block-scaled numbers: layouts, promotion, fused quantization."""
