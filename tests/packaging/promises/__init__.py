"""What each extra's page promises, as functions that do it in an environment."""
