"""Any text as readable segments, each with its place in the original."""
