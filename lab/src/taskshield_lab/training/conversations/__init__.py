"""Labelled conversations made from scenarios, openings, test environments and contrast sets.

Fourteen modules, because each step from a scenario to a conversation is one: plan, injection,
output, format, noise, tools, truncation. Four make whole conversations, one for each source.
"""
