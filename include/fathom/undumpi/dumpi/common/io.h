/* Reading sections of a file; all of it is in libundumpi.h. */
#ifndef FATHOM_UNDUMPI_IO_H
#define FATHOM_UNDUMPI_IO_H
#include <dumpi/libundumpi/libundumpi.h>
#endif
