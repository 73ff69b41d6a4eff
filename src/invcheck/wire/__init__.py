"""What providers write on the wire, as pure codecs between their JSON and our words; no I/O, and no SDK is needed."""
