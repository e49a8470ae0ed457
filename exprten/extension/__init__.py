"""mshadow's extensions: values of one expression read at other places. Each is one function that returns a Remap, or a view of a
Tensor where strides can say it.
"""
