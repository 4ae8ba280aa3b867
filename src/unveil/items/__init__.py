"""What if the attacker knows how popular each item is?"""
