// FATHOM_CLONES before a function: it is compiled for several instruction sets and the best one is taken at run time.
#pragma once

// Only gcc's own run-time dispatch is known to get along with everything; address sanitizer's start-up is not.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define FATHOM_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FATHOM_CLONES
#endif
