"""The exam: run (writes records), measure (pure), show (tables, plots, a page)."""
