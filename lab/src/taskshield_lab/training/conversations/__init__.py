"""Labelled conversations made from scenarios, openings and test environments.

Thirteen modules, because each step from a scenario to a conversation is one: plan, injection,
output, format, noise, tools, truncation. Three make whole conversations, one for each source.
"""
