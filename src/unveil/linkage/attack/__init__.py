"""The attack: who looks, what they know, and how often they find the person."""
