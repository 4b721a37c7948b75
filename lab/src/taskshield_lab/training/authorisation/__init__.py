"""Trains the network that reads what was asked: the user's words against a tool or a call."""
