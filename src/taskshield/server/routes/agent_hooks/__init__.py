"""The routes of Agent Hooks."""
