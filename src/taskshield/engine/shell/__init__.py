"""What shell commands do, read without running them."""
