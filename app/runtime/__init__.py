"""Model directories and ONNX Runtime."""
