"""The steps from data to a released model, each of which can be resumed."""
