"""Prints the table."""

from tests.shapes.table import main

main()
