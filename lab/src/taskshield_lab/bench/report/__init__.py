"""Tables, plots and an HTML page made from records. Runs no judge and no AgentDojo code."""
