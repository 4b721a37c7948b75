"""Tables, plots and a page from figures. Nothing here runs a judge or knows AgentDojo."""
