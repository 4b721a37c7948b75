"""The page that the server shows to people."""
