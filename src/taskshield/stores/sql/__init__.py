"""A store in an SQL database: statements, tables and migrations.

It has many modules, because databases, tables, statements and their upgrades are apart.
"""
