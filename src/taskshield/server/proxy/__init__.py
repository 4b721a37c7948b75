"""The proxy between agents and models: its I/O, on top of `adapters.proxy`, which has none.

`handler` parses and renders, `round_trip` is the state machine of a guarded request. The folder has
more than 12 modules, because each step of a round trip is a module of its own.
"""
