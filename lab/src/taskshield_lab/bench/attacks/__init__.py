"""Adaptive attacks: generators that know the user's task and the defence they are up against."""
