"""ARFF files: the header, dense and sparse rows, relational bags, and the hierarchies of CLUS and Mulan."""
