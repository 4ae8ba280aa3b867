"""How classes are made larger and more diverse: coarser values for all rows, or for some."""
