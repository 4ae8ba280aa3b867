"""Which node is this person? Attacks on graphs."""
