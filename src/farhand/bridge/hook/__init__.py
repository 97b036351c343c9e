"""What runs inside an agent CLI's hooks: the standard library and these modules alone."""
