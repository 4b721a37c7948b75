"""What the words of a tool's definition say about it."""
