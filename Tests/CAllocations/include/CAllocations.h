#ifndef C_ALLOCATIONS_H
#define C_ALLOCATIONS_H

/// How often this thread has asked for memory so far; -1 where that can't be counted.
///
/// A program that links this has its own malloc, which counts and asks the C library's.
long ca_allocations(void);

#endif
