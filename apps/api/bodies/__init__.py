"""What goes in and comes out: one module of pydantic models for each room."""
