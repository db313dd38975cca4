"""What each column is for, and how features, labels, bags, roles and notes become one Dataset."""
