"""The user's tasks and the assistant's plans, read from messages by rules."""
