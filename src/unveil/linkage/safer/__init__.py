"""What a table can become so that fewer are found."""
