"""Runs of benchmark items with three kinds of agents, in worker processes. Each run gives a record.

Fourteen modules side by side: `worst_case`, `replay` and `live` are the three ways to run an item,
and they share the helpers beside them. A subfolder for each way would hold two files.
"""
