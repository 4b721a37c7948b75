"""A store in an SQL database: statements, tables and migrations."""
