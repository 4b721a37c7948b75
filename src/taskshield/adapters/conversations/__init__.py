"""Conversations in the request formats of model APIs, and in our own."""
