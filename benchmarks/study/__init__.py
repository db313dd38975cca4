"""The user study of [P17] 3.5, pairs against triplets, by people or simulated ones: see run.py."""
