"""Playing the attack: who looks, what they know, how often they find."""
