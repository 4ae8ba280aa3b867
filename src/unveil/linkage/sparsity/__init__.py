"""How alike records are: the sparsity function and the long tail."""
