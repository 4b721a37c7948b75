"""Judges, and wrappers that add a cache, a time limit, a budget or a second judge to one."""
