"""Requests of MCP clients and the results of servers: reading, checking and answering them."""
