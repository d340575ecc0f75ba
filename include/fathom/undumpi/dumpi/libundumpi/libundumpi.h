/* Reading DUMPI traces by callbacks, with the names and signatures of libundumpi. What is handed to a callback is valid
 * until it returns. */
#ifndef FATHOM_UNDUMPI_LIBUNDUMPI_H
#define FATHOM_UNDUMPI_LIBUNDUMPI_H

#include <dumpi/common/argtypes.h>
#include <dumpi/common/constants.h>
#include <dumpi/libundumpi/callbacks.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* One .bin file; NULL when it cannot be read. */
dumpi_profile *undumpi_open(const char *fname);
void undumpi_close(dumpi_profile *profile);

/* All calls of the stream, in order. 1: to its end; 0: a record cannot be read. */
int undumpi_read_stream(dumpi_profile *profile, const libundumpi_callbacks *callback, void *userarg,
                        bool print_progress);
int undumpi_read_stream_full(const char *metaname, dumpi_profile *profile, const libundumpi_callbacks *callback,
                             void *userarg, bool print_progress);

/* Call by call: the callbacks by id. */
typedef void (*libundumpi_unsafe_fun)(void);
typedef int (*libdumpi_do_callback)(dumpi_profile *profile, libundumpi_unsafe_fun callout, void *userarg);
typedef struct libundumpi_cbpair {
  libdumpi_do_callback handler; /* not used here */
  libundumpi_unsafe_fun callout;
} libundumpi_cbpair;
void libundumpi_populate_callouts(const libundumpi_callbacks *callback, libundumpi_cbpair *callarr);
void libundumpi_populate_handlers(const libundumpi_callbacks *callback, libundumpi_cbpair *callarr);
/* 1: there may be more. */
int undumpi_read_single_call(dumpi_profile *profile, struct libundumpi_cbpair *callarr, void *userarg,
                             int *mpi_finalized);
/* Back to the first call. */
int dumpi_start_stream_read(dumpi_profile *profile);

/* To be freed with the dumpi_free_ functions. What the trace of a killed job lacks is empty. */
dumpi_header *undumpi_read_header(dumpi_profile *profile);
dumpi_keyval_record *undumpi_read_keyval_record(dumpi_profile *profile);
dumpi_footer *undumpi_read_footer(dumpi_profile *profile);
dumpi_sizeof undumpi_read_datatype_sizes(dumpi_profile *profile);
/* The same sections into what the caller has. Texts and lists are to be freed. 1: there is one. */
int dumpi_read_datatype_sizes(dumpi_profile *profile, dumpi_sizeof *sizes);
int dumpi_read_function_addresses(dumpi_profile *profile, int *count, uint64_t **addresses, char ***names);
void dumpi_read_perfctr_labels(dumpi_profile *profile, int *counters, dumpi_perflabel_t *labels, int maxlabels);
/* The label of an address of Function_enter and Function_exit; NULL: none. Valid as long as the profile is open. */
const char *undumpi_function_address_label(dumpi_profile *profile, uint64_t address);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
