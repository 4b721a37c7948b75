"""Values and protocols shared by every layer. Standard library only."""
