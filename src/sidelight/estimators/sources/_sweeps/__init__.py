"""Sweeps over the cells of tables of counts, and what they add up."""
