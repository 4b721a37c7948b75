"""Cross-validation, and the classifier and thresholds fitted on it."""
