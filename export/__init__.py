"""From a checkpoint to a model directory: ONNX graphs, weights, parity (needs torch and onnx)."""
