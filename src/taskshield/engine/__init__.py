"""The algorithm: session state, findings, policy and feedback as pure functions.

`session` is the only module that awaits a judge. Nothing here reads a wire format or a store.
"""
