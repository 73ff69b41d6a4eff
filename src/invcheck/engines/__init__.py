"""Where trials run: in confined workers, which take tasks and give messages."""
