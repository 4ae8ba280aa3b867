"""How many look alike? Equivalence classes of the rows of a table."""
