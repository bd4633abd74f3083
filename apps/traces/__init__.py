"""Stored conversations as they happened, and the ledger of model calls."""
