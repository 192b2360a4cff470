#include <lmdb.h>
#include <stddef.h>

// glibc declares it to programs that ask for its extensions only.
void *memmem(const void *text, size_t length, const void *part, size_t part_length);
