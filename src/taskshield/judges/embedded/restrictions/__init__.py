"""What the user ruled out, read from the user's words and compared with calls, without a model."""
