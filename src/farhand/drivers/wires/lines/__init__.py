"""The line protocol, both sides: schema, translation into facts, the link, and what agents are written with."""
