"""Sessions in the store: loading, checking a message, writing the decision, approvals."""
