#ifndef C_ALLOCATIONS_H
#define C_ALLOCATIONS_H

/// How often this thread has asked for memory so far; -1 where that can't be counted.
///
/// A program that links this has its own malloc, which counts and asks the C library's.
long ca_allocations(void);

/// For how many bytes this thread has asked so far, whatever it has given back; -1 where that can't be counted.
long ca_allocated_bytes(void);

#endif
