"""The paper's extraction and scoring over a language model, one call a message."""
