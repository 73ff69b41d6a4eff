"""Where trials run: in confined workers, or inline in this process; both take the same tasks and give the same messages."""
