"""A world's jointed bodies in coordinates of their own."""
