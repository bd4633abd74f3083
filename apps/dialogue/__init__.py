"""What a conversation is and how it grows: pure Python and pydantic, no framework."""
