"""What is asked: AgentDojo's worlds, the attacks in them, and the questions."""
