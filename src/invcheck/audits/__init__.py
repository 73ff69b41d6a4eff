"""What an audit is made of: documents that are compared, lines that let something in, and the words for both."""
