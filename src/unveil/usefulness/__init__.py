"""How useful is a protected table still? Measured on its values beside those of the original.

A coarse label is taken to be any of the values that it covers, all equally likely: what a reader of the release would
assume. A column that was left out is read as if every row hid its value.

The one number by which protections are ranked is :func:`unveil.release.coarse_table.kept_information`, not here.
"""
