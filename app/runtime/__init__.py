"""Model directories and ONNX Runtime."""

import os

# The onnxruntime wheel opens network connections on import unless told not to; this runs before any import of it.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
