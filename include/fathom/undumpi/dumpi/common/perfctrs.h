/* What programs name for the sake of counters is among the types. */
#ifndef FATHOM_UNDUMPI_PERFCTRS_H
#define FATHOM_UNDUMPI_PERFCTRS_H
#include <dumpi/common/types.h>
#endif
