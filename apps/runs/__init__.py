"""Batches of conversations played in the background, scored and counted."""
