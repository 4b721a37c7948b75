"""Cross-validation of networks; the decision and its figures, fitted on the predictions."""
