"""Connections of a gateway to its clients and to the wrapped server."""
