"""Models as files have them: GGUF, safetensors, quantized releases."""
