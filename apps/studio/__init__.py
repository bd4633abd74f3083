"""The web application for people."""
