"""The active attack: someone creates accounts before the release, and finds them, and their neighbours, in it."""
