"""Agent Hooks 0.1: events, and the verdicts on them."""
