"""The small programs that agent CLIs run, and how they are put into a CLI's settings and taken out again."""
