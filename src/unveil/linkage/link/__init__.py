"""Who is who in a file of known people."""
