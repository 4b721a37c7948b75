"""AgentDojo's suites and tasks, attacks placed in them, and the items of a benchmark."""
