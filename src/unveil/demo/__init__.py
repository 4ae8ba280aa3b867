"""Four believable examples, made from a seed."""
