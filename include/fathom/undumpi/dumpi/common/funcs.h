/* Numbers and names of the calls, under the other name that programs know for them. */
#ifndef FATHOM_UNDUMPI_FUNCS_H
#define FATHOM_UNDUMPI_FUNCS_H
#include <dumpi/common/funclabels.h>
#endif
