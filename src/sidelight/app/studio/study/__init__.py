"""Studies: which way of asking serves people best."""
