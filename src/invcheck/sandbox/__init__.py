"""What may not vary: network, clock, chance and environment; `box` puts the rooms together."""
