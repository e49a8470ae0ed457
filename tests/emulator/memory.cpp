// Memory whose surroundings are watched: pages that nobody may touch behind it and before it, and filled bytes up to those.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace {

constexpr unsigned char inside = 0xff;  // NaNs, as floats
constexpr unsigned char beside = 0x7f;  // large numbers; a NaN would come out of arithmetic as it went in
constexpr size_t alignment = 256;        // of every address that CUDA allocates

size_t up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

struct Pages {
    char *first, *last;  // of what may be touched
    char *block;

    Pages(char *memory, size_t size) {
        const size_t page = sysconf(_SC_PAGESIZE), room = up(up(size, alignment) + 1, page);
        first = memory + page;
        last = first + room;
        block = last - up(size, alignment);
    }
};

size_t mapped(size_t size) {
    const size_t page = sysconf(_SC_PAGESIZE);
    return up(up(size, alignment) + 1, page) + 2 * page;
}

// The first byte from `from` to `to` that is not as it was filled.
char *changed(char *from, char *to) {
    for (; from < to; ++from)
        if (static_cast<unsigned char>(*from) != beside) return from;
    return nullptr;
}

char *mapping_of(char *block, size_t size) {
    const Pages probe(nullptr, size);
    return block - (probe.block - static_cast<char *>(nullptr));
}

}  // namespace

extern "C" {

// Memory filled with NaNs; null if there is none.
char *emulator_allocate(size_t size) {
    void *memory = mmap(nullptr, mapped(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    const Pages pages(static_cast<char *>(memory), size);
    mprotect(pages.first, pages.last - pages.first, PROT_READ | PROT_WRITE);
    memset(pages.first, beside, pages.last - pages.first);
    memset(pages.block, inside, size);
    return pages.block;
}

void emulator_free(char *block, size_t size) { munmap(mapping_of(block, size), mapped(size)); }

// Where bytes beside the block were written, counted from its first byte; 0 if nowhere.
int64_t emulator_written_beside(char *block, size_t size) {
    const Pages pages(mapping_of(block, size), size);
    if (char *before = changed(pages.first, block)) return before - block;
    char *behind = changed(block + size, pages.last);
    return behind ? behind - block : 0;
}
}
