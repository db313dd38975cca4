"""What every family that learns from labelled bags shares: the layout of clusters, and the reading of bags and rows."""
