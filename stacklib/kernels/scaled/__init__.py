"""Products of block-scaled numbers: layouts of scales, promotion, fused quantization."""
