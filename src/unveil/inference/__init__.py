"""What else does it tell about them? What follows, for certain or nearly so, from a few facts about a person."""
