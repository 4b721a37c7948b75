"""What calls do, as far as that is certain without a judge."""
