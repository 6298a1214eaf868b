"""Questions of the core on a function at a point: a module each, with the method of `Function` that answers it."""
