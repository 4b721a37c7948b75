"""The report as one HTML page. `templates` has the markup, with autoescaping."""
