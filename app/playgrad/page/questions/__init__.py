"""The questions of the page: whatever a module here registers with `question` can be asked."""
