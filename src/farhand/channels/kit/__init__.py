"""What every channel shares: following the journal, the outbox, cards; `chat.py` puts a text chat together."""
