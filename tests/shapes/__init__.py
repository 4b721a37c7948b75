"""Shapes in which something hides from the guard, and what becomes of it.

`python -m tests.shapes` prints the table: tool outputs in every wire format, framework and place of
MCP, texts of hosts, answers of providers, and what a hostile MCP server sends. Nothing may be
unread, and nothing may pass without a judge.
"""
