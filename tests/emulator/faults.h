// While it lives, an access to no memory made by a fiber of this thread continues in a function, on the stack it was made on.
#pragma once
#include <csignal>

#if defined(__x86_64__) && defined(__linux__)

#include <pthread.h>
#include <ucontext.h>

class Faults {
    static inline char stack[64 * 1024];  // the fault may be a stack's overflow
    static inline pthread_t thread;
    static inline void (*enter)();
    static inline struct sigaction before[2];
    stack_t stack_before;

    static void handle(int signal, siginfo_t *info, void *interrupted) {
        if (!pthread_equal(thread, pthread_self()) || !emulated::self) {
            sigaction(signal, &before[signal == SIGBUS], nullptr);  // the instruction faults again, for whoever cares
            return;
        }
        address = info->si_addr;
        auto &registers = static_cast<ucontext_t *>(interrupted)->uc_mcontext.gregs;
        registers[REG_RSP] = reinterpret_cast<greg_t>(emulated::top_of_stack());
        registers[REG_RIP] = reinterpret_cast<greg_t>(enter);
    }

  public:
    static inline void *address;

    explicit Faults(void (*function)()) {
        thread = pthread_self();
        enter = function;
        stack_t own{};
        own.ss_sp = stack;
        own.ss_size = sizeof stack;
        sigaltstack(&own, &stack_before);
        struct sigaction action {};
        action.sa_sigaction = handle;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(SIGSEGV, &action, &before[0]);
        sigaction(SIGBUS, &action, &before[1]);
    }

    ~Faults() {
        sigaction(SIGSEGV, &before[0], nullptr);
        sigaction(SIGBUS, &before[1], nullptr);
        sigaltstack(&stack_before, nullptr);
    }
};

#else

struct Faults {
    static inline void *address;
    explicit Faults(void (*)()) {}
};

#endif
