"""Claude Code hooks: events, and the answers to them."""
