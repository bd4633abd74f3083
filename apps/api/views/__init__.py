"""The addresses of the API: one module a room."""
