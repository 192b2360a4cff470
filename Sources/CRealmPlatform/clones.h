// Functions that are compiled for several instruction sets. The system chooses one of them when the program starts.
#ifndef CREALMPLATFORM_CLONES_H
#define CREALMPLATFORM_CLONES_H

#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The system would choose before the sanitizer can be called.
#define CP_ONE_TARGET 1
#endif
#endif

#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && !defined(CP_ONE_TARGET)
#define CP_HAS_CLONES 1
#define CP_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CP_CLONES
#endif

#endif
