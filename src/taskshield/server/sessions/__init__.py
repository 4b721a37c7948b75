"""Sessions in the store: find a snapshot, judge messages, store the next snapshot; approvals."""
