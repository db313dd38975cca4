"""Arrays that are numbers already: NPZ, NPY, IDX and Parquet."""
