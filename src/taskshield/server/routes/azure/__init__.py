"""The routes of Azure Task Adherence."""
