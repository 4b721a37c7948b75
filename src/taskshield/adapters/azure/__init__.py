"""Azure Content Safety, agent:analyzeTaskAdherence: requests, answers and errors."""
