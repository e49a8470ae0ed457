// Runs the blocks of a launch one after the other, and the threads of a block as fibers that switch where they wait.
// In which order, a seed says: 0 forwards, 1 backwards, others shuffle. What a missing barrier lets slip depends on it.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <numeric>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "threads.h"

#include "faults.h"
#include "fibers.h"

namespace emulated {

Thread *self;
Triple block_index, block_extent, grid_extent;
alignas(1024) char dynamic_shared[shared_limit];

namespace {

struct Launch {
    const char *name;
    Triple grid, block;
};

struct Emulator {
    uint64_t seed = 0;
    uint64_t blocks = 0, barriers = 0, exited_barriers = 0, divergent_barriers = 0;
    std::vector<Launch> launches;
    std::string error;
};

struct Function {
    const Kernel *kernel;  // null: nobody has compiled it yet, and a launch does nothing
    Emulator *emulator;
};

enum class State { fresh, ready, at_block, at_warp, done };

struct Running : Thread {
    State state;
    Fiber fiber;
    char *stack;
};

constexpr size_t stack_size = 256 * 1024, guard = 64 * 1024;

// The last stack given back is the next one taken: threads that never wait all run on one, which stays in the cache.
class Stacks {
    std::vector<char *> all, free;

  public:
    char *take() {
        if (free.empty()) {
            void *memory = mmap(nullptr, stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) return nullptr;
            mprotect(memory, guard, PROT_NONE);
            all.push_back(static_cast<char *>(memory));
            free.push_back(all.back());
        }
        char *stack = free.back();
        free.pop_back();
        return stack;
    }
    void give(char *stack) { free.push_back(stack); }
    void give_all() { free = all; }
};

static_assert(stack_size % 4096 == 0 && guard % 4096 == 0, "pages");
std::mutex one_at_a_time;
Stacks stacks;
Running threads[block_limit];
unsigned count, left, at_barrier;
unsigned alive[block_limit / warp_size], waiting[block_limit / warp_size];  // the lanes of each warp
Fiber scheduler;
Emulator *emulator;
const Kernel *kernel;
void **parameters;
Status status;

uint64_t random_state;

uint64_t random_number() {  // xorshift64
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

void start_order(std::vector<unsigned> &order, size_t size) {
    order.resize(size);
    std::iota(order.begin(), order.end(), 0u);
    if (emulator->seed == 1) std::reverse(order.begin(), order.end());
}

void next_order(std::vector<unsigned> &order) {
    if (emulator->seed < 2) return;
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_number() % i]);
}

Running &me() { return *static_cast<Running *>(self); }

void leave(State state) {
    me().state = state;
    switch_fibers(me().fiber, scheduler);
}

void run_thread() {
    kernel->enter(parameters);
    leave(State::done);
}

std::string place(const Thread &thread) {
    char text[160];
    snprintf(text, sizeof text, "%s, block (%u, %u, %u), thread (%u, %u, %u)", kernel->name, block_index.x, block_index.y,
             block_index.z, thread.index.x, thread.index.y, thread.index.z);
    return text;
}

void report(Status found, const std::string &text) {
    status = found;
    emulator->error = text;
}

void report_deadlock() {
    std::string text = "deadlock";
    const Running *barrier = nullptr, *warp = nullptr;
    for (unsigned i = count; i-- > 0;) {
        if (threads[i].state == State::at_block) barrier = &threads[i];
        if (threads[i].state == State::at_warp) warp = &threads[i];
    }
    if (barrier) {
        ++emulator->divergent_barriers;
        text += ": " + place(*barrier) + " waits at __syncthreads in line " + std::to_string(barrier->line);
    }
    if (warp) {
        char mask[16];
        snprintf(mask, sizeof mask, "%#x", warp->mask);
        text += ": " + place(*warp) + " waits for the lanes " + mask + " of its warp";
    }
    report(launch_failure, text);
}

// All threads that are left wait at __syncthreads.
void release_block() {
    uint64_t came = 0, with_true = 0;
    const Running *first = nullptr;
    for (unsigned i = 0; i < count; ++i) {
        if (threads[i].state != State::at_block) continue;
        if (!first) first = &threads[i];
        if (threads[i].line != first->line) {
            ++emulator->divergent_barriers;
            return report(launch_failure, "divergent barrier: " + place(*first) + " waits at __syncthreads in line " +
                                              std::to_string(first->line) + ", " + place(threads[i]) + " in line " +
                                              std::to_string(threads[i].line));
        }
        ++came;
        with_true += threads[i].value;
    }
    for (unsigned i = 0; i < count; ++i) {
        if (threads[i].state != State::at_block) continue;
        threads[i].state = State::ready;
        threads[i].result = came << 32 | with_true;
    }
    at_barrier = 0;
    ++emulator->barriers;
    emulator->exited_barriers += came < count;
}

uint64_t exchanged(const Running *warp, const Running &thread, unsigned group) {
    if (thread.wait == Wait::shuffle) {
        // What a lane that does not take part gives is undefined; let it be seen.
        return group >> thread.source & 1 ? warp[thread.source].value : 0xA5A5A5A5A5A5A5A5u ^ emulator->seed * 0x0101010101010101u;
    }
    uint64_t votes = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane)
        if (group >> lane & 1) votes |= uint64_t(warp[lane].value != 0) << lane;
    return votes;
}

// The lanes go on that wait for each other with this one: with the same operation and the same mask.
void release_group(unsigned which, unsigned lane) {
    Running *warp = threads + which * warp_size;
    const Running &first = warp[lane];
    const unsigned group = first.mask & alive[which];
    if (group & ~waiting[which]) return;
    for (unsigned rest = group; rest; rest &= rest - 1) {
        const Running &other = warp[__builtin_ctz(rest)];
        if (other.wait != first.wait || other.mask != first.mask) return;
    }
    for (unsigned rest = group; rest; rest &= rest - 1) {
        Running &thread = warp[__builtin_ctz(rest)];
        thread.result = exchanged(warp, thread, group);
    }
    for (unsigned rest = group; rest; rest &= rest - 1) warp[__builtin_ctz(rest)].state = State::ready;
    waiting[which] &= ~group;
}

void came_to_warp(const Running &thread) {
    const unsigned which = thread.number / warp_size;
    waiting[which] |= 1u << thread.lane;
    release_group(which, thread.lane);
}

// Who has returned is waited for no longer.
void returned(const Running &thread) {
    const unsigned which = thread.number / warp_size;
    stacks.give(thread.stack);
    --left;
    alive[which] &= ~(1u << thread.lane);
    for (unsigned rest = waiting[which]; rest; rest &= rest - 1)
        if (waiting[which] & (rest & -rest)) release_group(which, __builtin_ctz(rest));
}

bool resume(Running &thread) {
    if (thread.state == State::fresh) {
        if (!(thread.stack = stacks.take())) return report(launch_failure, "no memory for the stack of a thread"), false;
        // Shifted against each other, so that the tops of stacks do not meet in the same lines of the cache.
        prepare(thread.fiber, thread.stack + guard, stack_size - guard - thread.number % 32 * 192, run_thread);
    }
    self = &thread;
    switch_fibers(scheduler, thread.fiber);
    self = nullptr;
    if (status != success) return false;
    if (thread.state == State::at_warp) came_to_warp(thread);
    if (thread.state == State::at_block) ++at_barrier;
    if (thread.state == State::done) returned(thread);
    if (left && at_barrier == left) release_block();
    return status == success;
}

void start_block() {
    left = count;
    at_barrier = 0;
    for (unsigned i = 0; i < count; ++i) {
        Running &thread = threads[i];
        thread.index = {i % block_extent.x, i / block_extent.x % block_extent.y, i / block_extent.x / block_extent.y};
        thread.number = i;
        thread.lane = i % warp_size;
        thread.state = State::fresh;
    }
    for (unsigned i = 0; i < count; i += warp_size) {
        alive[i / warp_size] = count - i < warp_size ? (1u << (count - i)) - 1 : ~0u;
        waiting[i / warp_size] = 0;
    }
}

void run_block(std::vector<unsigned> &order) {
    start_block();
    start_order(order, count);
    while (left) {
        next_order(order);
        bool ran = false;
        for (unsigned i : order) {
            if (threads[i].state != State::fresh && threads[i].state != State::ready) continue;
            ran = true;
            if (!resume(threads[i])) return;
        }
        if (!ran) return report_deadlock();
    }
}

void run_grid(unsigned dynamic) {
    static std::vector<unsigned> blocks, order;
    start_order(blocks, size_t(grid_extent.x) * grid_extent.y * grid_extent.z);
    next_order(blocks);
    // Memory that a block has not written holds NaNs, and under other seeds other numbers.
    const int poison = emulator->seed ? int(random_number() & 0xff) : 0xff;
    for (unsigned b : blocks) {
        block_index = {b % grid_extent.x, b / grid_extent.x % grid_extent.y, b / grid_extent.x / grid_extent.y};
        memset(kernel->shared_begin, poison, kernel->shared_end - kernel->shared_begin);
        memset(dynamic_shared, poison, dynamic);
        run_block(order);
        if (status != success) return stacks.give_all();
        ++emulator->blocks;
    }
}

// Entered in place of the instruction that read or wrote where there is no memory.
void fault() { fail(illegal_address, "address %p is not allocated", Faults::address); }

Status refuse(Status found, const char *format, ...) __attribute__((format(printf, 2, 3)));
Status refuse(Status found, const char *format, ...) {
    char text[200];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    emulator->error = std::string(kernel->name) + ": " + text;
    return found;
}

// The limits of compute capability 7.5 to 12.0.
Status check(Triple grid, Triple block, unsigned dynamic) {
    if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
        return refuse(invalid_value, "an extent of grid (%u, %u, %u) or block (%u, %u, %u) is 0", grid.x, grid.y, grid.z, block.x, block.y, block.z);
    if (grid.x > 0x7fffffffu || grid.y > 0xffffu || grid.z > 0xffffu)
        return refuse(invalid_value, "grid (%u, %u, %u) is above (2147483647, 65535, 65535)", grid.x, grid.y, grid.z);
    if (block.x > block_limit || block.y > block_limit || block.z > 64 || uint64_t(block.x) * block.y * block.z > block_limit)
        return refuse(invalid_value, "block (%u, %u, %u) is above (1024, 1024, 64) or 1024 threads", block.x, block.y, block.z);
    if (block.x * block.y * block.z > kernel->most_threads)
        return refuse(too_many_threads, "block (%u, %u, %u) is above its __launch_bounds__(%u)", block.x, block.y, block.z, kernel->most_threads);
    const size_t shared = kernel->shared_end - kernel->shared_begin;
    if (shared + dynamic > shared_limit) return refuse(invalid_value, "%zu + %u bytes of shared memory are above %u", shared, dynamic, shared_limit);
    return success;
}

}  // namespace

uint64_t wait_for_block(bool predicate, unsigned line) {
    self->value = predicate;
    self->line = line;
    leave(State::at_block);
    return self->result;
}

uint64_t wait_for_warp(Wait wait, unsigned mask, uint64_t value, unsigned source) {
    if (!(mask >> self->lane & 1)) fail(launch_failure, "mask %#x is without the lane %u that calls", mask, self->lane);
    self->wait = wait;
    self->mask = mask;
    self->value = value;
    self->source = source;
    leave(State::at_warp);
    return self->result;
}

// As a function finds it that was called.
char *top_of_stack() { return me().stack + stack_size - sizeof(void *); }

unsigned lanes_alive() { return alive[self->number / warp_size]; }

void fail(Status found, const char *format, ...) {
    char text[300];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    report(found, place(*self) + ": " + text);
    leave(State::done);
    __builtin_unreachable();
}

}  // namespace emulated

using namespace emulated;

extern "C" {

Emulator *emulator_new() { return new Emulator; }
void emulator_delete(Emulator *self) { delete self; }
Function *emulator_function(Emulator *self) { return new Function{nullptr, self}; }
void emulator_bind(Function *self, const Kernel *kernel) { self->kernel = kernel; }
void emulator_seed(Emulator *self, uint64_t seed) { self->seed = seed; }
const char *emulator_error(const Emulator *self) { return self->error.c_str(); }

void emulator_counters(const Emulator *self, uint64_t *out) {
    const uint64_t found[] = {self->launches.size(), self->blocks, self->barriers, self->exited_barriers, self->divergent_barriers};
    std::copy(std::begin(found), std::end(found), out);
}

const char *emulator_launched(const Emulator *self, size_t k, unsigned *out) {
    const Launch &launch = self->launches[k];
    memcpy(out, &launch.grid, sizeof launch.grid);
    memcpy(out + 3, &launch.block, sizeof launch.block);
    return launch.name;
}

void emulator_reset(Emulator *self) {
    const uint64_t seed = self->seed;
    *self = Emulator();
    self->seed = seed;
}

// cuLaunchKernel's signature and its results; it returns when the kernel has ended.
int emulator_launch(Function *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                    unsigned block_z, unsigned shared, void *, void **arguments, void **extra) {
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    const Triple grid{grid_x, grid_y, grid_z}, block{block_x, block_y, block_z};
    emulator = function->emulator;
    kernel = function->kernel;
    if (!kernel) return success;
    if (Status found = check(grid, block, shared)) return found;
    if (extra) return refuse(invalid_value, "arguments in `extra` are not supported");
    emulator->launches.push_back({kernel->name, grid, block});
    parameters = arguments;
    grid_extent = grid;
    block_extent = block;
    count = block_x * block_y * block_z;
    status = success;
    random_state = (emulator->seed + 1) * 0x9E3779B97F4A7C15u;
    const Faults faults(fault);
    run_grid(shared);
    return status;
}

struct Location {
    const char *file;
    unsigned line, column;
};

struct Type {
    uint16_t kind, info;
    char name[1];
};

struct Mismatch {
    Location location;
    const Type *type;
    unsigned char log_alignment, check;
};

// g++ -fsanitize=alignment calls it where an access is not aligned as its type must be.
void __ubsan_handle_type_mismatch_v1(const Mismatch *data, uintptr_t address) {
    fail(misaligned_address, "line %u: address %#zx of type %s is not a multiple of %u", data->location.line, size_t(address),
         data->type->name, 1u << data->log_alignment);
}

struct OutOfBounds {
    Location location;
    const Type *array, *index;
};

// g++ -fsanitize=bounds calls it where an index is not below the extent that an array was declared with.
void __ubsan_handle_out_of_bounds(const OutOfBounds *data, uintptr_t index) {
    fail(illegal_address, "line %u: index %zd is outside of %s", data->location.line, ssize_t(index), data->array->name);
}
}
