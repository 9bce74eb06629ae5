"""Small functions that every project ends up writing."""
