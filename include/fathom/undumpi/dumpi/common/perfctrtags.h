/* What programs name for the sake of counters is among the types. */
#ifndef FATHOM_UNDUMPI_PERFCTRTAGS_H
#define FATHOM_UNDUMPI_PERFCTRTAGS_H
#include <dumpi/common/types.h>
#endif
