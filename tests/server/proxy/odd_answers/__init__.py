"""Answers that no provider should send, and what becomes of the calls in them."""
