/* What the shared library shows to the outside; everything else is hidden. */
#ifndef FATHOM_EXPORT_H
#define FATHOM_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define FATHOM_API __attribute__((visibility("default")))
#else
#define FATHOM_API
#endif

#endif
