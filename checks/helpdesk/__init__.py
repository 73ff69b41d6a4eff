"""A small help desk: it answers questions from a folder of documents, sorts tickets, and pays refunds."""
