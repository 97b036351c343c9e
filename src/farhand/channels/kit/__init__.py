"""What every channel shares: following the journal, the outbox, splitting."""
