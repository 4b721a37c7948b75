"""`taskshield bench`: one file per subcommand."""
