"""Mathematical functions in kernel IR: arithmetic that every backend and the interpreter do alike, lane by lane or not at all.

Nothing is contracted but where a formula says `fma`, so the bits are the same everywhere and at every width.
"""
