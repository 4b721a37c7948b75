"""The trainable network: token examples, batches, training loop, export to ONNX."""
