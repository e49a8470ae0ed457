"""A tour of tensors, after mshadow's guide/basic.cpp, with its numbers.

Handles and memory, element-wise statements, repetition, and what an index can say. This version has no reductions (sum pooling),
no products (`implicit_dot`, `VectorDot`) and no `take` or `choose`; their parts of the guide are left out.
"""

import numpy as np

import exprten as xt


def show(name, t):
    print(f"{name}:", *t.numpy(), sep="\n  ")


# A tensor is a handle on memory. Here the memory is NumPy's: 20 floats that exprten borrows.

data = np.full(20, -1, np.float32)
ts = xt.asarray(data).reshape(2, 5, 2)
mat = ts[0]  # the first of two 5 × 2 matrices: a view
mat2 = mat  # a second name for the same handle
mat = xt.asarray(data[:10]).flat_to_2d()
print("{} X {} matrix".format(*mat.shape))
assert mat.shape == (1, 10) and mat2.shape == (5, 2)

mat[...] = 0.0  # an assignment writes into memory; `mat = 0.0` would only give the name to a number
mat[0, 1] = 1.0
try:
    mat[1, 0] = 2.0  # the guide does this too, and there nobody notices
except IndexError as error:
    print("mat[1, 0] = 2.0:", error)

# One statement is one kernel, whatever its length. Every handle on the memory sees the result, NumPy too.

mat += (mat + 10.0) / 10.0 + 2.0
show("mat", mat)
assert np.allclose(mat.numpy(), [[3.0, 4.1, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]])
assert mat2.numpy()[0, 1] == data[1] == mat.numpy()[0, 1]
assert (data[10:] == -1).all()

# Memory of our own is allocated on purpose, and freed when nothing holds it any more, or at once.

handle = xt.Tensor((2, 3))  # a shape and a type, no memory yet
xt.alloc_space(handle)
handle[...] = 1.0
xt.free_space(handle)
try:
    handle += 1.0
except xt.FreedSpaceError as error:
    print("handle += 1.0:", error)

with xt.TensorContainer((4, 5), init=1.0) as ones:  # owns its memory, and frees it at the end of the block
    assert xt.memory.bytes_in_use == ones.nbytes == 80
assert xt.memory.bytes_in_use == 0  # the borrowed floats were never counted

# Positions are values: `range` counts, `reshape` reads in another order, and both are computed where they are used.

lhs = xt.empty((2, 3))
lhs[...] = xt.reshape(xt.range(6), (2, 3))
show("lhs", lhs)
assert lhs.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]

# A vector as each row, and as each column. NumPy's broadcasting does the same without a name.

vector = xt.array([0.0, 1.0, 2.0])
assert xt.evaluate(xt.repmat(vector, 2)).numpy().tolist() == [[0, 1, 2], [0, 1, 2]]
assert xt.evaluate(xt.broadcast(vector, (3, 2), axis=0)).numpy().tolist() == [[0, 0], [1, 1], [2, 2]]
lhs -= vector
assert lhs.numpy().tolist() == [[0, 0, 0], [3, 3, 3]]
lhs += vector

# One-hot rows: whether the column is the one that the index names.

index = xt.array([1, 2])
is_chosen = xt.range(3) == index[:, None]
one_hot = xt.evaluate(is_chosen, dtype=xt.float32)
show("one-hot", one_hot)
assert one_hot.numpy().tolist() == [[0, 1, 0], [0, 0, 1]]

# The same expression chooses which elements are filled (mshadow mat_fill_row_element).

chosen = xt.array([1.0, 5.0])
recover = xt.full((2, 3), -100.0)
recover[...] = xt.where(is_chosen, chosen[:, None], recover)
show("recover - lhs", xt.evaluate(recover - lhs))
assert xt.evaluate(recover - lhs).numpy().tolist() == [[-100, 0, -102], [-103, -104, 0]]

# Upsampling has no name yet; it is repetition under another shape.

small = xt.array([[1.0, 2.0], [3.0, 4.0]])
large = xt.evaluate(xt.reshape(xt.broadcast_to(small[:, None, :, None], (2, 3, 2, 3)), (6, 6)))
show("upsampling", large)
assert np.array_equal(large.numpy(), np.kron(small.numpy(), np.ones((3, 3))))

# A mask scales rows (mshadow mask): row i is all i.

masked = xt.ones((6, 8))
masked *= xt.range(6)[:, None]
show("mask", masked)
assert (masked.numpy() == np.arange(6)[:, None]).all()
