"""Linking a file of known people with the release: who is which row?"""
