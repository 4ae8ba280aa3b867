"""Three believable examples, made from a seed."""
