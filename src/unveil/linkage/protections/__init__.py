"""Plans that change a table or ratings so that fewer people are found."""
