"""Four realistic examples, generated from a seed."""
