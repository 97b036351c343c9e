"""What must outlive any kill: journal, inbox, outbox and the tables of the present, on SQLite."""
