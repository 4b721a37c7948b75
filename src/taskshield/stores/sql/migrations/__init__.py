"""The migrations of the tables; `stores.sql.migrate` runs them."""
