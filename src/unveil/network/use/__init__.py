"""What a changed graph can still be used for, beside the graph as it was."""
