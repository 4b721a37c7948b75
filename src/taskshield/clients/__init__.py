"""Chat-model clients: the only code that talks to a language model's endpoint."""
