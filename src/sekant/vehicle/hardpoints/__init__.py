"""Files of suspensions: hard points, and the components that belong to them."""
