"""The routes of each surface: parse the request, call, render the response."""
