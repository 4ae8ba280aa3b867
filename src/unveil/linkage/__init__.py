"""Which record is the person I know a few things about?

``ask.py`` is the door: whom someone would look for (``people.py``, ``records.py``, ``similarity.py``), then ``attack/``
plays the attack, ``alike/`` says how alike records are, ``theorems/`` what that guarantees, and ``link/`` who is who in
a file of known people. ``protect.py`` offers what ``safer/`` finds.
"""
