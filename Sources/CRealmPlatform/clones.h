// Functions compiled for several instruction sets, of which the system chooses when the program starts.
#ifndef CREALMPLATFORM_CLONES_H
#define CREALMPLATFORM_CLONES_H

#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// The choice would be made before the sanitizer can be called.
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
