"""Pages on which a reader moves the hard points of a suspension and its curves follow."""
