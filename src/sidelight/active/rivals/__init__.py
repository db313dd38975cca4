"""Other people's ways of asking: COBRAS, MinMax, NPU, explore."""
