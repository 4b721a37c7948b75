"""Running the server: logs, metrics, traces, readiness, the self-test, statistics, live events."""
