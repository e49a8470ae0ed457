"""From an expression and its target to a kernel that runs: gathered, arranged, lowered, launched."""
