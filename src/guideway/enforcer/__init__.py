"""The enforcement API of the seed, on top of `Session`."""
