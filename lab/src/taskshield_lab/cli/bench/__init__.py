"""`taskshield bench`: the exam, one file per subcommand."""
