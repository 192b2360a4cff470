#include <lmdb.h>
#include <stddef.h>

// glibc declares this function only in programs that ask for its extensions.
void *memmem(const void *text, size_t length, const void *part, size_t part_length);
