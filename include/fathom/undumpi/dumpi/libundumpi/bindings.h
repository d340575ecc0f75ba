/* Programs that read call by call name this header; all of it is in libundumpi.h. */
#ifndef FATHOM_UNDUMPI_BINDINGS_H
#define FATHOM_UNDUMPI_BINDINGS_H
#include <dumpi/libundumpi/libundumpi.h>
#endif
