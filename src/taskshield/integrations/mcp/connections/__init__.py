"""Connections of a gateway to its clients and to the wrapped server.

There are many modules because every limit on a hostile server is one of its own.
"""
