"""What a judge reads of a server's messages: texts, keys, names, and what they say together."""
