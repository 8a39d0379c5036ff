"""What files of suspensions hold: hard points, and what stands beside them."""
