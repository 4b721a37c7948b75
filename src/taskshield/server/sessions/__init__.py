"""Sessions in the store: find a snapshot, judge messages, store the next snapshot; approvals.

It has many modules: what is found, judged, serialized, stored and approved are apart.
"""
