"""How a table is changed so that a few facts tell less."""
