"""A program that is killed, for real, at a point that is told to it; run by `tests/journal/test_cut_off.py`."""
