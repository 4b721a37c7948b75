"""Adaptive attacks: generators that know the user's task and the defence.

Eighteen modules side by side: ten families of generators, which `catalogue` registers, and the few
values and texts that they share. The names in docs/attacks.md follow the modules.
"""
