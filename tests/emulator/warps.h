// What the threads of a warp, of a block and of a grid do together.
#pragma once

namespace emulated {

constexpr int warpSize = warp_size;

inline int block_count(uint64_t came) { return int(came & 0xffffffffu); }
inline int block_all(uint64_t came) { return (came & 0xffffffffu) == came >> 32; }

inline void __syncwarp(unsigned mask = 0xffffffffu) { wait_for_warp(Wait::sync, mask, 0, 0); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
// Blocks run one after the other, and no other can be what a thread waits for.
inline void __nanosleep(unsigned) { fail(launch_failure, "block %u waits for one that has not run", block_index.x); }

// A lane outside of its segment of `width` lanes gets its own value.
template <class T>
inline T shuffle(unsigned mask, T value, unsigned source) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "shuffles carry up to 8 bytes");
    uint64_t carried = 0;
    std::memcpy(&carried, &value, sizeof(T));
    carried = wait_for_warp(Wait::shuffle, mask, carried, source);
    std::memcpy(&value, &carried, sizeof(T));
    return value;
}

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    return shuffle(mask, value, (self->lane & -unsigned(width)) | (unsigned(source) & (width - 1)));
}

template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = self->lane, first = lane & -unsigned(width);
    return shuffle(mask, value, lane - first >= delta ? lane - delta : lane);
}

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = self->lane, end = (lane & -unsigned(width)) + width;
    return shuffle(mask, value, lane + delta < end ? lane + delta : lane);
}

// Earlier segments may be read, later ones not.
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    const unsigned lane = self->lane, end = (lane & -unsigned(width)) + width, source = lane ^ unsigned(bits);
    return shuffle(mask, value, source < end ? source : lane);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) { return wait_for_warp(Wait::ballot, mask, predicate != 0, 0); }
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
inline unsigned __activemask() { return lanes_alive(); }

// No thread is interrupted between two waits, so what follows is atomic.

template <class T>
struct same {
    using type = T;
};
template <class T>
using Same = typename same<T>::type;

template <class T, class F>
inline T exchange(T *address, F change) {
    const T old = *address;
    *address = change(old);
    return old;
}

template <class T>
inline T atomicAdd(T *address, Same<T> value) {
    return exchange(address, [=](T old) { return T(old + value); });
}
template <class T>
inline T atomicSub(T *address, Same<T> value) {
    return exchange(address, [=](T old) { return T(old - value); });
}
template <class T>
inline T atomicMin(T *address, Same<T> value) {
    return exchange(address, [=](T old) { return value < old ? value : old; });
}
template <class T>
inline T atomicMax(T *address, Same<T> value) {
    return exchange(address, [=](T old) { return old < value ? value : old; });
}
template <class T>
inline T atomicExch(T *address, Same<T> value) {
    return exchange(address, [=](T) { return value; });
}
template <class T>
inline T atomicCAS(T *address, Same<T> compare, Same<T> value) {
    return exchange(address, [=](T old) { return old == compare ? value : old; });
}
template <class T>
inline T atomicAnd(T *address, Same<T> value) {
    return exchange(address, [=](T old) { return old & value; });
}
template <class T>
inline T atomicOr(T *address, Same<T> value) {
    return exchange(address, [=](T old) { return old | value; });
}
template <class T>
inline T atomicXor(T *address, Same<T> value) {
    return exchange(address, [=](T old) { return old ^ value; });
}
inline unsigned atomicInc(unsigned *address, unsigned most) {
    return exchange(address, [=](unsigned old) { return old >= most ? 0 : old + 1; });
}
inline unsigned atomicDec(unsigned *address, unsigned most) {
    return exchange(address, [=](unsigned old) { return old == 0 || old > most ? most : old - 1; });
}

}  // namespace emulated
