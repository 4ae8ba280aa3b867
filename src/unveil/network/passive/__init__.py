"""The passive attack: someone holds an overlapping network with names, and matches its nodes with the release's."""
