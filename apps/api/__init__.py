"""The management API for scripts."""
