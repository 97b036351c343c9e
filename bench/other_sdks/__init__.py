"""One coding task (read, edit, run tests, fix, report) in four SDKs: all that a user writes, a file each."""
