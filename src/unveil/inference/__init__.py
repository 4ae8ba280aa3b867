"""What else does a release tell about people, without anybody finding them?

``ask.py`` is the door. ``belief_gains.py`` measures how much a few facts raise belief in a sensitive value.
"""
