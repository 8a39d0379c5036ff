"""The contents of files of suspensions: hard points, and the components beside them."""
