"""The routes of Claude Code's hooks."""
