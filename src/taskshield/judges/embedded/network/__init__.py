"""The small network: its files, its inputs, and running it with onnxruntime."""
