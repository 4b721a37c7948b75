"""The AgentDojo benchmark: `run` writes records, `measure` computes, `report` shows."""
