"""The trainable network: batches, the training loop, the export to ONNX."""
