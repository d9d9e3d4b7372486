"""Fuzzing: inputs that nobody would write, for every reader and for encoding and counting."""
