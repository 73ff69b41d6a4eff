"""The kernel's side of the sandbox: the walls around a process that runs user code, and who watches them."""
