"""Requests and sentences of others, put into the data of a conversation."""
