"""Which record is the person I know a few things about? Linkage attacks on tables and ratings."""
