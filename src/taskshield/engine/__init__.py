"""The algorithm: session state, policy and feedback as pure functions, and one file that awaits."""
