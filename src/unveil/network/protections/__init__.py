"""Changes of a graph that make people in it harder to find."""
