"""Who may do what: users, projects, members, API keys, the audit log."""
