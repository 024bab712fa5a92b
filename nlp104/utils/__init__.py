"""The few helpers that two rooms share."""
