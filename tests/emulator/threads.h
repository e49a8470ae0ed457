// What a translated kernel and the runtime that executes it know of each other.
#pragma once
#include <cstddef>
#include <cstdint>

namespace emulated {

struct Triple {
    unsigned x, y, z;
};

enum class Wait { none, sync, shuffle, ballot };

// A CUDA thread. What it waits for is written by itself; what it gets, by the thread order when all have come.
struct Thread {
    Triple index;
    unsigned number, lane;
    Wait wait;
    unsigned mask, source, line;
    uint64_t value, result;
};

// A kernel of a unit: the arguments are read as cuLaunchKernel reads them, one pointer each.
struct Kernel {
    const char *name;
    void (*enter)(void **parameters);
    char *shared_begin, *shared_end;
    unsigned most_threads;
};

enum Status { success = 0, invalid_value = 1, illegal_address = 700, too_many_threads = 701, misaligned_address = 716, launch_failure = 719 };

constexpr unsigned warp_size = 32, block_limit = 1024, shared_limit = 48 * 1024;

extern Thread *self;
extern Triple block_index, block_extent, grid_extent;
extern char dynamic_shared[shared_limit];

// How many of the block came, above the 32 bits of how many of them came with true.
uint64_t wait_for_block(bool predicate, unsigned line);
uint64_t wait_for_warp(Wait wait, unsigned mask, uint64_t value, unsigned source);
unsigned lanes_alive();
char *top_of_stack();
[[noreturn]] void fail(Status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace emulated
