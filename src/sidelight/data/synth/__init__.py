"""Generators: data with known answers, drawn from a seed, one file each."""
