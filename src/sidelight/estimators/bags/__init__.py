"""Clusters of whole bags, when only some unknown row of each bag matters."""
