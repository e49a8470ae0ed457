"""GPUs: what exprten asks of CUDA, and who answers."""
