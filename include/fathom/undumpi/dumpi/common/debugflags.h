/* The switch for messages of the library that programs set. */
#ifndef FATHOM_UNDUMPI_DEBUGFLAGS_H
#define FATHOM_UNDUMPI_DEBUGFLAGS_H
#include <stdint.h>
#define DUMPI_DEBUG_ALL (~0)
#ifdef __cplusplus
extern "C" {
#endif
/* There is nothing to be said: it is here for programs that set it. */
extern __attribute__((visibility("default"))) uint64_t dumpi_debug;
#ifdef __cplusplus
}
#endif
#endif
