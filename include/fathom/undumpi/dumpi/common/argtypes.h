/* Written by scripts/undumpi_headers.py from the table of calls. */
#ifndef FATHOM_UNDUMPI_ARGTYPES_H
#define FATHOM_UNDUMPI_ARGTYPES_H

#include <dumpi/common/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct dumpi_func_call {
  uint64_t fn;
} dumpi_func_call;

typedef struct dumpi_send {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
} dumpi_send;

typedef struct dumpi_recv {
  int count;
  dumpi_datatype datatype;
  dumpi_source source;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_status *status;
} dumpi_recv;

typedef struct dumpi_get_count {
  dumpi_status *status;
  dumpi_datatype datatype;
  int count;
} dumpi_get_count;

typedef struct dumpi_bsend {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
} dumpi_bsend;

typedef struct dumpi_ssend {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
} dumpi_ssend;

typedef struct dumpi_rsend {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
} dumpi_rsend;

typedef struct dumpi_buffer_attach {
  int size;
} dumpi_buffer_attach;

typedef struct dumpi_buffer_detach {
  int size;
} dumpi_buffer_detach;

typedef struct dumpi_isend {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  int tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_isend;

typedef struct dumpi_ibsend {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_ibsend;

typedef struct dumpi_issend {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_issend;

typedef struct dumpi_irsend {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_irsend;

typedef struct dumpi_irecv {
  int count;
  dumpi_datatype datatype;
  dumpi_source source;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_irecv;

typedef struct dumpi_wait {
  dumpi_request request;
  dumpi_status *status;
} dumpi_wait;

typedef struct dumpi_test {
  dumpi_request request;
  int flag;
  dumpi_status *status;
} dumpi_test;

typedef struct dumpi_request_free {
  dumpi_request request;
} dumpi_request_free;

typedef struct dumpi_waitany {
  int count;
  dumpi_request *requests;
  int index;
  dumpi_status *status;
} dumpi_waitany;

typedef struct dumpi_testany {
  int count;
  dumpi_request *requests;
  int index;
  int flag;
  dumpi_status *status;
} dumpi_testany;

typedef struct dumpi_waitall {
  int count;
  dumpi_request *requests;
  dumpi_status *statuses;
} dumpi_waitall;

typedef struct dumpi_testall {
  int count;
  dumpi_request *requests;
  int flag;
  dumpi_status *statuses;
} dumpi_testall;

typedef struct dumpi_waitsome {
  int count;
  dumpi_request *requests;
  int outcount;
  int *indices;
  dumpi_status *statuses;
} dumpi_waitsome;

typedef struct dumpi_testsome {
  int count;
  dumpi_request *requests;
  int outcount;
  int *indices;
  dumpi_status *statuses;
} dumpi_testsome;

typedef struct dumpi_iprobe {
  dumpi_source source;
  dumpi_tag tag;
  dumpi_comm comm;
  int flag;
  dumpi_status *status;
} dumpi_iprobe;

typedef struct dumpi_probe {
  dumpi_source source;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_status *status;
} dumpi_probe;

typedef struct dumpi_cancel {
  dumpi_request request;
} dumpi_cancel;

typedef struct dumpi_test_cancelled {
  dumpi_status *status;
  int cancelled;
} dumpi_test_cancelled;

typedef struct dumpi_send_init {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_send_init;

typedef struct dumpi_bsend_init {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_bsend_init;

typedef struct dumpi_ssend_init {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_ssend_init;

typedef struct dumpi_rsend_init {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_rsend_init;

typedef struct dumpi_recv_init {
  int count;
  dumpi_datatype datatype;
  dumpi_source source;
  dumpi_tag tag;
  dumpi_comm comm;
  dumpi_request request;
} dumpi_recv_init;

typedef struct dumpi_start {
  dumpi_request request;
} dumpi_start;

typedef struct dumpi_startall {
  int count;
  dumpi_request *requests;
} dumpi_startall;

typedef struct dumpi_sendrecv {
  int sendcount;
  dumpi_datatype sendtype;
  dumpi_dest dest;
  dumpi_tag sendtag;
  int recvcount;
  dumpi_datatype recvtype;
  dumpi_source source;
  dumpi_tag recvtag;
  dumpi_comm comm;
  dumpi_status *status;
} dumpi_sendrecv;

typedef struct dumpi_sendrecv_replace {
  int count;
  dumpi_datatype datatype;
  dumpi_dest dest;
  dumpi_tag sendtag;
  dumpi_source source;
  dumpi_tag recvtag;
  dumpi_comm comm;
  dumpi_status *status;
} dumpi_sendrecv_replace;

typedef struct dumpi_type_contiguous {
  int count;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_contiguous;

typedef struct dumpi_type_vector {
  int count;
  int blocklength;
  int stride;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_vector;

typedef struct dumpi_type_hvector {
  int count;
  int blocklength;
  int stride;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_hvector;

typedef struct dumpi_type_indexed {
  int count;
  int *lengths;
  int *indices;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_indexed;

typedef struct dumpi_type_hindexed {
  int count;
  int *lengths;
  int *indices;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_hindexed;

typedef struct dumpi_type_struct {
  int count;
  int *lengths;
  int *indices;
  dumpi_datatype *oldtypes;
  dumpi_datatype newtype;
} dumpi_type_struct;

typedef struct dumpi_address {
  int address;
} dumpi_address;

typedef struct dumpi_type_extent {
  dumpi_datatype datatype;
  int extent;
} dumpi_type_extent;

typedef struct dumpi_type_size {
  dumpi_datatype datatype;
  int size;
} dumpi_type_size;

typedef struct dumpi_type_lb {
  dumpi_datatype datatype;
  int lb;
} dumpi_type_lb;

typedef struct dumpi_type_ub {
  dumpi_datatype datatype;
  int ub;
} dumpi_type_ub;

typedef struct dumpi_type_commit {
  dumpi_datatype datatype;
} dumpi_type_commit;

typedef struct dumpi_type_free {
  dumpi_datatype datatype;
} dumpi_type_free;

typedef struct dumpi_get_elements {
  dumpi_status *status;
  dumpi_datatype datatype;
  int elements;
} dumpi_get_elements;

typedef struct dumpi_pack {
  int incount;
  dumpi_datatype datatype;
  int outcount;
  struct { int in, out; } position;
  dumpi_comm comm;
} dumpi_pack;

typedef struct dumpi_unpack {
  int incount;
  struct { int in, out; } position;
  int outcount;
  dumpi_datatype datatype;
  dumpi_comm comm;
} dumpi_unpack;

typedef struct dumpi_pack_size {
  int incount;
  dumpi_datatype datatype;
  dumpi_comm comm;
  int size;
} dumpi_pack_size;

typedef struct dumpi_barrier {
  dumpi_comm comm;
} dumpi_barrier;

typedef struct dumpi_bcast {
  int count;
  dumpi_datatype datatype;
  int root;
  dumpi_comm comm;
} dumpi_bcast;

typedef struct dumpi_gather {
  int commrank;
  int sendcount;
  dumpi_datatype sendtype;
  int recvcount;
  dumpi_datatype recvtype;
  int root;
  dumpi_comm comm;
} dumpi_gather;

typedef struct dumpi_gatherv {
  int commrank;
  int commsize;
  int sendcount;
  dumpi_datatype sendtype;
  int *recvcounts;
  int *displs;
  dumpi_datatype recvtype;
  int root;
  dumpi_comm comm;
} dumpi_gatherv;

typedef struct dumpi_scatter {
  int commrank;
  int sendcount;
  dumpi_datatype sendtype;
  int recvcount;
  dumpi_datatype recvtype;
  int root;
  dumpi_comm comm;
} dumpi_scatter;

typedef struct dumpi_scatterv {
  int commrank;
  int commsize;
  int *sendcounts;
  int *displs;
  dumpi_datatype sendtype;
  int recvcount;
  dumpi_datatype recvtype;
  int root;
  dumpi_comm comm;
} dumpi_scatterv;

typedef struct dumpi_allgather {
  int sendcount;
  dumpi_datatype sendtype;
  int recvcount;
  dumpi_datatype recvtype;
  dumpi_comm comm;
} dumpi_allgather;

typedef struct dumpi_allgatherv {
  int commsize;
  int sendcount;
  dumpi_datatype sendtype;
  int *recvcounts;
  int *displs;
  dumpi_datatype recvtype;
  dumpi_comm comm;
} dumpi_allgatherv;

typedef struct dumpi_alltoall {
  int sendcount;
  dumpi_datatype sendtype;
  int recvcount;
  dumpi_datatype recvtype;
  dumpi_comm comm;
} dumpi_alltoall;

typedef struct dumpi_alltoallv {
  int commsize;
  int *sendcounts;
  int *senddispls;
  dumpi_datatype sendtype;
  int *recvcounts;
  int *recvdispls;
  dumpi_datatype recvtype;
  dumpi_comm comm;
} dumpi_alltoallv;

typedef struct dumpi_reduce {
  int count;
  dumpi_datatype datatype;
  dumpi_op op;
  int root;
  dumpi_comm comm;
} dumpi_reduce;

typedef struct dumpi_op_create {
  int commute;
  dumpi_op op;
} dumpi_op_create;

typedef struct dumpi_op_free {
  dumpi_op op;
} dumpi_op_free;

typedef struct dumpi_allreduce {
  int count;
  dumpi_datatype datatype;
  dumpi_op op;
  dumpi_comm comm;
} dumpi_allreduce;

typedef struct dumpi_reduce_scatter {
  int commsize;
  int *recvcounts;
  dumpi_datatype datatype;
  dumpi_op op;
  dumpi_comm comm;
} dumpi_reduce_scatter;

typedef struct dumpi_scan {
  int count;
  dumpi_datatype datatype;
  dumpi_op op;
  dumpi_comm comm;
} dumpi_scan;

typedef struct dumpi_group_size {
  dumpi_group group;
  int size;
} dumpi_group_size;

typedef struct dumpi_group_rank {
  dumpi_group group;
  int rank;
} dumpi_group_rank;

typedef struct dumpi_group_translate_ranks {
  dumpi_group group1;
  int count;
  int *ranks1;
  dumpi_group group2;
  int *ranks2;
} dumpi_group_translate_ranks;

typedef struct dumpi_group_compare {
  dumpi_group group1;
  dumpi_group group2;
  dumpi_comparison result;
} dumpi_group_compare;

typedef struct dumpi_comm_group {
  dumpi_comm comm;
  dumpi_group group;
} dumpi_comm_group;

typedef struct dumpi_group_union {
  dumpi_group group1;
  dumpi_group group2;
  dumpi_group newgroup;
} dumpi_group_union;

typedef struct dumpi_group_intersection {
  dumpi_group group1;
  dumpi_group group2;
  dumpi_group newgroup;
} dumpi_group_intersection;

typedef struct dumpi_group_difference {
  dumpi_group group1;
  dumpi_group group2;
  dumpi_group newgroup;
} dumpi_group_difference;

typedef struct dumpi_group_incl {
  dumpi_group group;
  int count;
  int *ranks;
  dumpi_group newgroup;
} dumpi_group_incl;

typedef struct dumpi_group_excl {
  dumpi_group group;
  int count;
  int *ranks;
  dumpi_group newgroup;
} dumpi_group_excl;

typedef struct dumpi_group_range_incl {
  dumpi_group group;
  int count;
  int **ranges;
  dumpi_group newgroup;
} dumpi_group_range_incl;

typedef struct dumpi_group_range_excl {
  dumpi_group group;
  int count;
  int **ranges;
  dumpi_group newgroup;
} dumpi_group_range_excl;

typedef struct dumpi_group_free {
  dumpi_group group;
} dumpi_group_free;

typedef struct dumpi_comm_size {
  dumpi_comm comm;
  int size;
} dumpi_comm_size;

typedef struct dumpi_comm_rank {
  dumpi_comm comm;
  int rank;
} dumpi_comm_rank;

typedef struct dumpi_comm_compare {
  dumpi_comm comm1;
  dumpi_comm comm2;
  dumpi_comparison result;
} dumpi_comm_compare;

typedef struct dumpi_comm_dup {
  dumpi_comm oldcomm;
  dumpi_comm newcomm;
} dumpi_comm_dup;

typedef struct dumpi_comm_create {
  dumpi_comm oldcomm;
  dumpi_group group;
  dumpi_comm newcomm;
} dumpi_comm_create;

typedef struct dumpi_comm_split {
  dumpi_comm oldcomm;
  int color;
  int key;
  dumpi_comm newcomm;
} dumpi_comm_split;

typedef struct dumpi_comm_free {
  dumpi_comm comm;
} dumpi_comm_free;

typedef struct dumpi_comm_test_inter {
  dumpi_comm comm;
  int inter;
} dumpi_comm_test_inter;

typedef struct dumpi_comm_remote_size {
  dumpi_comm comm;
  int size;
} dumpi_comm_remote_size;

typedef struct dumpi_comm_remote_group {
  dumpi_comm comm;
  dumpi_group group;
} dumpi_comm_remote_group;

typedef struct dumpi_intercomm_create {
  dumpi_comm localcomm;
  int localleader;
  dumpi_comm remotecomm;
  int remoteleader;
  dumpi_tag tag;
  dumpi_comm newcomm;
} dumpi_intercomm_create;

typedef struct dumpi_intercomm_merge {
  dumpi_comm comm;
  int high;
  dumpi_comm newcomm;
} dumpi_intercomm_merge;

typedef struct dumpi_keyval_create {
  dumpi_keyval key;
} dumpi_keyval_create;

typedef struct dumpi_keyval_free {
  dumpi_keyval key;
} dumpi_keyval_free;

typedef struct dumpi_attr_put {
  dumpi_comm comm;
  int key;
} dumpi_attr_put;

typedef struct dumpi_attr_get {
  dumpi_comm comm;
  int key;
  int flag;
} dumpi_attr_get;

typedef struct dumpi_attr_delete {
  dumpi_comm comm;
  int key;
} dumpi_attr_delete;

typedef struct dumpi_topo_test {
  dumpi_comm comm;
  dumpi_topology topo;
} dumpi_topo_test;

typedef struct dumpi_cart_create {
  dumpi_comm oldcomm;
  int ndim;
  int *dims;
  int *periods;
  int reorder;
  dumpi_comm newcomm;
} dumpi_cart_create;

typedef struct dumpi_dims_create {
  int nodes;
  int ndim;
  struct { int *in, *out; } dims;
} dumpi_dims_create;

typedef struct dumpi_graph_create {
  int numedges;
  dumpi_comm oldcomm;
  int nodes;
  int *index;
  int *edges;
  int reorder;
  dumpi_comm newcomm;
} dumpi_graph_create;

typedef struct dumpi_graphdims_get {
  dumpi_comm comm;
  int nodes;
  int edges;
} dumpi_graphdims_get;

typedef struct dumpi_graph_get {
  int totedges;
  int totnodes;
  dumpi_comm comm;
  int maxindex;
  int maxedges;
  int *index;
  int *edges;
} dumpi_graph_get;

typedef struct dumpi_cartdim_get {
  dumpi_comm comm;
  int ndim;
} dumpi_cartdim_get;

typedef struct dumpi_cart_get {
  int ndim;
  dumpi_comm comm;
  int maxdims;
  int *dims;
  int *periods;
  int *coords;
} dumpi_cart_get;

typedef struct dumpi_cart_rank {
  int ndim;
  dumpi_comm comm;
  int *coords;
  int rank;
} dumpi_cart_rank;

typedef struct dumpi_cart_coords {
  int ndim;
  dumpi_comm comm;
  int rank;
  int maxdims;
  int *coords;
} dumpi_cart_coords;

typedef struct dumpi_graph_neighbors_count {
  dumpi_comm comm;
  int rank;
  int nneigh;
} dumpi_graph_neighbors_count;

typedef struct dumpi_graph_neighbors {
  int nneigh;
  dumpi_comm comm;
  int rank;
  int maxneighbors;
  int *neighbors;
} dumpi_graph_neighbors;

typedef struct dumpi_cart_shift {
  dumpi_comm comm;
  int direction;
  int displ;
  dumpi_source source;
  dumpi_dest dest;
} dumpi_cart_shift;

typedef struct dumpi_cart_sub {
  int ndim;
  dumpi_comm oldcomm;
  int *remain_dims;
  dumpi_comm newcomm;
} dumpi_cart_sub;

typedef struct dumpi_cart_map {
  dumpi_comm comm;
  int ndim;
  int *dims;
  int *period;
  int newrank;
} dumpi_cart_map;

typedef struct dumpi_graph_map {
  int numedges;
  dumpi_comm comm;
  int nodes;
  int *index;
  int *edges;
  int newrank;
} dumpi_graph_map;

typedef struct dumpi_get_processor_name {
  char *name;
  int resultlen;
} dumpi_get_processor_name;

typedef struct dumpi_get_version {
  int version;
  int subversion;
} dumpi_get_version;

typedef struct dumpi_errhandler_create {
  dumpi_errhandler errhandler;
} dumpi_errhandler_create;

typedef struct dumpi_errhandler_set {
  dumpi_comm comm;
  dumpi_errhandler errhandler;
} dumpi_errhandler_set;

typedef struct dumpi_errhandler_get {
  dumpi_comm comm;
  dumpi_errhandler errhandler;
} dumpi_errhandler_get;

typedef struct dumpi_errhandler_free {
  dumpi_errhandler errhandler;
} dumpi_errhandler_free;

typedef struct dumpi_error_string {
  int errorcode;
  char *errorstring;
  int resultlen;
} dumpi_error_string;

typedef struct dumpi_error_class {
  int errorcode;
  int errorclass;
} dumpi_error_class;

typedef struct dumpi_wtime {
  int unused;
} dumpi_wtime;

typedef struct dumpi_wtick {
  int unused;
} dumpi_wtick;

typedef struct dumpi_init {
  int argc;
  char **argv;
} dumpi_init;

typedef struct dumpi_finalize {
  int unused;
} dumpi_finalize;

typedef struct dumpi_initialized {
  int result;
} dumpi_initialized;

typedef struct dumpi_abort {
  dumpi_comm comm;
  int errorcode;
} dumpi_abort;

typedef struct dumpi_close_port {
  char *portname;
} dumpi_close_port;

typedef struct dumpi_comm_accept {
  char *portname;
  dumpi_info info;
  int root;
  dumpi_comm oldcomm;
  dumpi_comm newcomm;
} dumpi_comm_accept;

typedef struct dumpi_comm_connect {
  char *portname;
  dumpi_info info;
  int root;
  dumpi_comm oldcomm;
  dumpi_comm newcomm;
} dumpi_comm_connect;

typedef struct dumpi_comm_disconnect {
  dumpi_comm comm;
} dumpi_comm_disconnect;

typedef struct dumpi_comm_get_parent {
  dumpi_comm parent;
} dumpi_comm_get_parent;

typedef struct dumpi_comm_join {
  int fd;
  dumpi_comm comm;
} dumpi_comm_join;

typedef struct dumpi_comm_spawn {
  int oldcommrank;
  char *command;
  char **argv;
  int maxprocs;
  dumpi_info info;
  int root;
  dumpi_comm oldcomm;
  dumpi_comm newcomm;
  int *errcodes;
} dumpi_comm_spawn;

typedef struct dumpi_comm_spawn_multiple {
  int totprocs;
  int oldcommrank;
  int count;
  char **commands;
  char ***argvs;
  int *maxprocs;
  dumpi_info *info;
  int root;
  dumpi_comm oldcomm;
  dumpi_comm newcomm;
  int *errcodes;
} dumpi_comm_spawn_multiple;

typedef struct dumpi_lookup_name {
  char *servicename;
  dumpi_info info;
  char *portname;
} dumpi_lookup_name;

typedef struct dumpi_open_port {
  dumpi_info info;
  char *portname;
} dumpi_open_port;

typedef struct dumpi_publish_name {
  char *servicename;
  dumpi_info info;
  char *portname;
} dumpi_publish_name;

typedef struct dumpi_unpublish_name {
  char *servicename;
  dumpi_info info;
  char *portname;
} dumpi_unpublish_name;

typedef struct dumpi_accumulate {
  int origincount;
  dumpi_datatype origintype;
  int targetrank;
  int targetdisp;
  int targetcount;
  dumpi_datatype targettype;
  dumpi_op op;
  dumpi_win win;
} dumpi_accumulate;

typedef struct dumpi_get {
  int origincount;
  dumpi_datatype origintype;
  int targetrank;
  int targetdisp;
  int targetcount;
  dumpi_datatype targettype;
  dumpi_win win;
} dumpi_get;

typedef struct dumpi_put {
  int origincount;
  dumpi_datatype origintype;
  int targetrank;
  int targetdisp;
  int targetcount;
  dumpi_datatype targettype;
  dumpi_win win;
} dumpi_put;

typedef struct dumpi_win_complete {
  dumpi_win win;
} dumpi_win_complete;

typedef struct dumpi_win_create {
  int size;
  int dispunit;
  dumpi_info info;
  dumpi_comm comm;
  dumpi_win win;
} dumpi_win_create;

typedef struct dumpi_win_fence {
  dumpi_win_assert assertion;
  dumpi_win win;
} dumpi_win_fence;

typedef struct dumpi_win_free {
  dumpi_win win;
} dumpi_win_free;

typedef struct dumpi_win_get_group {
  dumpi_win win;
  dumpi_group group;
} dumpi_win_get_group;

typedef struct dumpi_win_lock {
  dumpi_locktype locktype;
  int winrank;
  dumpi_win_assert assertion;
  dumpi_win win;
} dumpi_win_lock;

typedef struct dumpi_win_post {
  dumpi_group group;
  dumpi_win_assert assertion;
  dumpi_win win;
} dumpi_win_post;

typedef struct dumpi_win_start {
  dumpi_group group;
  dumpi_win_assert assertion;
  dumpi_win win;
} dumpi_win_start;

typedef struct dumpi_win_test {
  dumpi_win win;
  int flag;
} dumpi_win_test;

typedef struct dumpi_win_unlock {
  int winrank;
  dumpi_win win;
} dumpi_win_unlock;

typedef struct dumpi_win_wait {
  dumpi_win win;
} dumpi_win_wait;

typedef struct dumpi_alltoallw {
  int commsize;
  int *sendcounts;
  int *senddispls;
  dumpi_datatype *sendtypes;
  int *recvcounts;
  int *recvdispls;
  dumpi_datatype *recvtypes;
  dumpi_comm comm;
} dumpi_alltoallw;

typedef struct dumpi_exscan {
  int count;
  dumpi_datatype datatype;
  dumpi_op op;
  dumpi_comm comm;
} dumpi_exscan;

typedef struct dumpi_add_error_class {
  int errorclass;
} dumpi_add_error_class;

typedef struct dumpi_add_error_code {
  int errorclass;
  int errorcode;
} dumpi_add_error_code;

typedef struct dumpi_add_error_string {
  int errorcode;
  char *errorstring;
} dumpi_add_error_string;

typedef struct dumpi_comm_call_errhandler {
  dumpi_comm comm;
  int errorcode;
} dumpi_comm_call_errhandler;

typedef struct dumpi_comm_create_keyval {
  dumpi_keyval keyval;
} dumpi_comm_create_keyval;

typedef struct dumpi_comm_delete_attr {
  dumpi_comm comm;
  dumpi_keyval keyval;
} dumpi_comm_delete_attr;

typedef struct dumpi_comm_free_keyval {
  dumpi_keyval keyval;
} dumpi_comm_free_keyval;

typedef struct dumpi_comm_get_attr {
  dumpi_comm comm;
  dumpi_keyval keyval;
  int flag;
} dumpi_comm_get_attr;

typedef struct dumpi_comm_get_name {
  dumpi_comm comm;
  char *name;
  int resultlen;
} dumpi_comm_get_name;

typedef struct dumpi_comm_set_attr {
  dumpi_comm comm;
  dumpi_keyval keyval;
} dumpi_comm_set_attr;

typedef struct dumpi_comm_set_name {
  dumpi_comm comm;
  char *name;
} dumpi_comm_set_name;

typedef struct dumpi_file_call_errhandler {
  dumpi_file file;
  int errorcode;
} dumpi_file_call_errhandler;

typedef struct dumpi_grequest_complete {
  dumpi_request request;
} dumpi_grequest_complete;

typedef struct dumpi_grequest_start {
  dumpi_request request;
} dumpi_grequest_start;

typedef struct dumpi_init_thread {
  int argc;
  char **argv;
  dumpi_threadlevel required;
  dumpi_threadlevel provided;
} dumpi_init_thread;

typedef struct dumpi_is_thread_main {
  int flag;
} dumpi_is_thread_main;

typedef struct dumpi_query_thread {
  dumpi_threadlevel supported;
} dumpi_query_thread;

typedef struct dumpi_status_set_cancelled {
  dumpi_status *status;
  int flag;
} dumpi_status_set_cancelled;

typedef struct dumpi_status_set_elements {
  dumpi_status *status;
  dumpi_datatype datatype;
  int count;
} dumpi_status_set_elements;

typedef struct dumpi_type_create_keyval {
  dumpi_keyval keyval;
} dumpi_type_create_keyval;

typedef struct dumpi_type_delete_attr {
  dumpi_datatype datatype;
  dumpi_keyval keyval;
} dumpi_type_delete_attr;

typedef struct dumpi_type_dup {
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_dup;

typedef struct dumpi_type_free_keyval {
  dumpi_keyval keyval;
} dumpi_type_free_keyval;

typedef struct dumpi_type_get_attr {
  dumpi_datatype datatype;
  dumpi_keyval keyval;
  int flag;
} dumpi_type_get_attr;

typedef struct dumpi_type_get_contents {
  int numdatatypes;
  int numaddresses;
  int numintegers;
  dumpi_datatype datatype;
  int maxintegers;
  int maxaddresses;
  int maxdatatypes;
  int *arrintegers;
  int *arraddresses;
  dumpi_datatype *arrdatatypes;
} dumpi_type_get_contents;

typedef struct dumpi_type_get_envelope {
  dumpi_datatype datatype;
  int numintegers;
  int numaddresses;
  int numdatatypes;
  dumpi_combiner combiner;
} dumpi_type_get_envelope;

typedef struct dumpi_type_get_name {
  dumpi_datatype datatype;
  char *name;
  int resultlen;
} dumpi_type_get_name;

typedef struct dumpi_type_set_attr {
  dumpi_datatype datatype;
  dumpi_keyval keyval;
} dumpi_type_set_attr;

typedef struct dumpi_type_set_name {
  dumpi_datatype datatype;
  char *name;
} dumpi_type_set_name;

typedef struct dumpi_type_match_size {
  dumpi_typeclass typeclass;
  int size;
  dumpi_datatype datatype;
} dumpi_type_match_size;

typedef struct dumpi_win_call_errhandler {
  dumpi_win win;
  int errorcode;
} dumpi_win_call_errhandler;

typedef struct dumpi_win_create_keyval {
  dumpi_keyval keyval;
} dumpi_win_create_keyval;

typedef struct dumpi_win_delete_attr {
  dumpi_win win;
  dumpi_keyval keyval;
} dumpi_win_delete_attr;

typedef struct dumpi_win_free_keyval {
  dumpi_keyval keyval;
} dumpi_win_free_keyval;

typedef struct dumpi_win_get_attr {
  dumpi_win win;
  dumpi_keyval keyval;
  int flag;
} dumpi_win_get_attr;

typedef struct dumpi_win_get_name {
  dumpi_win win;
  char *name;
  int resultlen;
} dumpi_win_get_name;

typedef struct dumpi_win_set_attr {
  dumpi_win win;
  dumpi_keyval keyval;
} dumpi_win_set_attr;

typedef struct dumpi_win_set_name {
  dumpi_win win;
  char *name;
} dumpi_win_set_name;

typedef struct dumpi_alloc_mem {
  int size;
  dumpi_info info;
} dumpi_alloc_mem;

typedef struct dumpi_comm_create_errhandler {
  dumpi_errhandler errhandler;
} dumpi_comm_create_errhandler;

typedef struct dumpi_comm_get_errhandler {
  dumpi_comm comm;
  dumpi_errhandler errhandler;
} dumpi_comm_get_errhandler;

typedef struct dumpi_comm_set_errhandler {
  dumpi_comm comm;
  dumpi_errhandler errhandler;
} dumpi_comm_set_errhandler;

typedef struct dumpi_file_create_errhandler {
  dumpi_errhandler errhandler;
} dumpi_file_create_errhandler;

typedef struct dumpi_file_get_errhandler {
  dumpi_file file;
  dumpi_errhandler errhandler;
} dumpi_file_get_errhandler;

typedef struct dumpi_file_set_errhandler {
  dumpi_file file;
  dumpi_errhandler errhandler;
} dumpi_file_set_errhandler;

typedef struct dumpi_finalized {
  int flag;
} dumpi_finalized;

typedef struct dumpi_free_mem {
  int unused;
} dumpi_free_mem;

typedef struct dumpi_get_address {
  int address;
} dumpi_get_address;

typedef struct dumpi_info_create {
  dumpi_info info;
} dumpi_info_create;

typedef struct dumpi_info_delete {
  dumpi_info info;
  char *key;
} dumpi_info_delete;

typedef struct dumpi_info_dup {
  dumpi_info oldinfo;
  dumpi_info newinfo;
} dumpi_info_dup;

typedef struct dumpi_info_free {
  dumpi_info info;
} dumpi_info_free;

typedef struct dumpi_info_get {
  dumpi_info info;
  char *key;
  int valuelength;
  char *value;
  int flag;
} dumpi_info_get;

typedef struct dumpi_info_get_nkeys {
  dumpi_info info;
  int nkeys;
} dumpi_info_get_nkeys;

typedef struct dumpi_info_get_nthkey {
  dumpi_info info;
  int n;
  char *key;
} dumpi_info_get_nthkey;

typedef struct dumpi_info_get_valuelen {
  dumpi_info info;
  char *key;
  int valuelen;
  int flag;
} dumpi_info_get_valuelen;

typedef struct dumpi_info_set {
  dumpi_info info;
  char *key;
  char *value;
} dumpi_info_set;

typedef struct dumpi_pack_external {
  char *datarep;
  int incount;
  dumpi_datatype intype;
  int outcount;
  struct { int in, out; } position;
} dumpi_pack_external;

typedef struct dumpi_pack_external_size {
  char *datarep;
  int incount;
  dumpi_datatype datatype;
  int size;
} dumpi_pack_external_size;

typedef struct dumpi_request_get_status {
  dumpi_request request;
  int flag;
  dumpi_status *status;
} dumpi_request_get_status;

typedef struct dumpi_type_create_darray {
  int size;
  int rank;
  int ndims;
  int *gsizes;
  dumpi_distribution *distribs;
  int *dargs;
  int *psizes;
  dumpi_ordering order;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_create_darray;

typedef struct dumpi_type_create_hindexed {
  int count;
  int *blocklengths;
  int *displacements;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_create_hindexed;

typedef struct dumpi_type_create_hvector {
  int count;
  int blocklength;
  int stride;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_create_hvector;

typedef struct dumpi_type_create_indexed_block {
  int count;
  int blocklength;
  int *displacments;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_create_indexed_block;

typedef struct dumpi_type_create_resized {
  dumpi_datatype oldtype;
  int lb;
  int extent;
  dumpi_datatype newtype;
} dumpi_type_create_resized;

typedef struct dumpi_type_create_struct {
  int count;
  int *blocklengths;
  int *displacements;
  dumpi_datatype *oldtypes;
  dumpi_datatype newtype;
} dumpi_type_create_struct;

typedef struct dumpi_type_create_subarray {
  int ndims;
  int *sizes;
  int *subsizes;
  int *starts;
  dumpi_ordering order;
  dumpi_datatype oldtype;
  dumpi_datatype newtype;
} dumpi_type_create_subarray;

typedef struct dumpi_type_get_extent {
  dumpi_datatype datatype;
  int lb;
  int extent;
} dumpi_type_get_extent;

typedef struct dumpi_type_get_true_extent {
  dumpi_datatype datatype;
  int lb;
  int extent;
} dumpi_type_get_true_extent;

typedef struct dumpi_unpack_external {
  char *datarep;
  int insize;
  struct { int in, out; } position;
  int outcount;
  dumpi_datatype datatype;
} dumpi_unpack_external;

typedef struct dumpi_win_create_errhandler {
  dumpi_errhandler errhandler;
} dumpi_win_create_errhandler;

typedef struct dumpi_win_get_errhandler {
  dumpi_win win;
  dumpi_errhandler errhandler;
} dumpi_win_get_errhandler;

typedef struct dumpi_win_set_errhandler {
  dumpi_win win;
  dumpi_errhandler errhandler;
} dumpi_win_set_errhandler;

typedef struct dumpi_file_open {
  dumpi_comm comm;
  char *filename;
  dumpi_filemode amode;
  dumpi_info info;
  dumpi_file file;
} dumpi_file_open;

typedef struct dumpi_file_close {
  dumpi_file file;
} dumpi_file_close;

typedef struct dumpi_file_delete {
  char *filename;
  dumpi_info info;
} dumpi_file_delete;

typedef struct dumpi_file_set_size {
  dumpi_file file;
  int64_t size;
} dumpi_file_set_size;

typedef struct dumpi_file_preallocate {
  dumpi_file file;
  int64_t size;
} dumpi_file_preallocate;

typedef struct dumpi_file_get_size {
  dumpi_file file;
  int64_t size;
} dumpi_file_get_size;

typedef struct dumpi_file_get_group {
  dumpi_file file;
  dumpi_group group;
} dumpi_file_get_group;

typedef struct dumpi_file_get_amode {
  dumpi_file file;
  dumpi_filemode amode;
} dumpi_file_get_amode;

typedef struct dumpi_file_set_info {
  dumpi_file file;
  dumpi_info info;
} dumpi_file_set_info;

typedef struct dumpi_file_get_info {
  dumpi_file file;
  dumpi_info info;
} dumpi_file_get_info;

typedef struct dumpi_file_set_view {
  dumpi_file file;
  int64_t offset;
  dumpi_datatype hosttype;
  dumpi_datatype filetype;
  char *datarep;
  dumpi_info info;
} dumpi_file_set_view;

typedef struct dumpi_file_get_view {
  dumpi_file file;
  int64_t offset;
  dumpi_datatype hosttype;
  dumpi_datatype filetype;
  char *datarep;
} dumpi_file_get_view;

typedef struct dumpi_file_read_at {
  dumpi_file file;
  int64_t offset;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_read_at;

typedef struct dumpi_file_read_at_all {
  dumpi_file file;
  int64_t offset;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_read_at_all;

typedef struct dumpi_file_write_at {
  dumpi_file file;
  int64_t offset;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_write_at;

typedef struct dumpi_file_write_at_all {
  dumpi_file file;
  int64_t offset;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_write_at_all;

typedef struct dumpi_file_iread_at {
  dumpi_file file;
  int64_t offset;
  int count;
  dumpi_datatype datatype;
  dumpio_request request;
} dumpi_file_iread_at;

typedef struct dumpi_file_iwrite_at {
  dumpi_file file;
  int64_t offset;
  int count;
  dumpi_datatype datatype;
  dumpio_request request;
} dumpi_file_iwrite_at;

typedef struct dumpi_file_read {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_read;

typedef struct dumpi_file_read_all {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_read_all;

typedef struct dumpi_file_write {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_write;

typedef struct dumpi_file_write_all {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_write_all;

typedef struct dumpi_file_iread {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpio_request request;
} dumpi_file_iread;

typedef struct dumpi_file_iwrite {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpio_request request;
} dumpi_file_iwrite;

typedef struct dumpi_file_seek {
  dumpi_file file;
  int64_t offset;
  dumpi_whence whence;
} dumpi_file_seek;

typedef struct dumpi_file_get_position {
  dumpi_file file;
  int64_t offset;
} dumpi_file_get_position;

typedef struct dumpi_file_get_byte_offset {
  dumpi_file file;
  int64_t offset;
  int64_t bytes;
} dumpi_file_get_byte_offset;

typedef struct dumpi_file_read_shared {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_read_shared;

typedef struct dumpi_file_write_shared {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_write_shared;

typedef struct dumpi_file_iread_shared {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpio_request request;
} dumpi_file_iread_shared;

typedef struct dumpi_file_iwrite_shared {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpio_request request;
} dumpi_file_iwrite_shared;

typedef struct dumpi_file_read_ordered {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_read_ordered;

typedef struct dumpi_file_write_ordered {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
  dumpi_status *status;
} dumpi_file_write_ordered;

typedef struct dumpi_file_seek_shared {
  dumpi_file file;
  int64_t offset;
  dumpi_whence whence;
} dumpi_file_seek_shared;

typedef struct dumpi_file_get_position_shared {
  dumpi_file file;
  int64_t offset;
} dumpi_file_get_position_shared;

typedef struct dumpi_file_read_at_all_begin {
  dumpi_file file;
  int64_t offset;
  int count;
  dumpi_datatype datatype;
} dumpi_file_read_at_all_begin;

typedef struct dumpi_file_read_at_all_end {
  dumpi_file file;
  dumpi_status *status;
} dumpi_file_read_at_all_end;

typedef struct dumpi_file_write_at_all_begin {
  dumpi_file file;
  int64_t offset;
  int count;
  dumpi_datatype datatype;
} dumpi_file_write_at_all_begin;

typedef struct dumpi_file_write_at_all_end {
  dumpi_file file;
  dumpi_status *status;
} dumpi_file_write_at_all_end;

typedef struct dumpi_file_read_all_begin {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
} dumpi_file_read_all_begin;

typedef struct dumpi_file_read_all_end {
  dumpi_file file;
  dumpi_status *status;
} dumpi_file_read_all_end;

typedef struct dumpi_file_write_all_begin {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
} dumpi_file_write_all_begin;

typedef struct dumpi_file_write_all_end {
  dumpi_file file;
  dumpi_status *status;
} dumpi_file_write_all_end;

typedef struct dumpi_file_read_ordered_begin {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
} dumpi_file_read_ordered_begin;

typedef struct dumpi_file_read_ordered_end {
  dumpi_file file;
  dumpi_status *status;
} dumpi_file_read_ordered_end;

typedef struct dumpi_file_write_ordered_begin {
  dumpi_file file;
  int count;
  dumpi_datatype datatype;
} dumpi_file_write_ordered_begin;

typedef struct dumpi_file_write_ordered_end {
  dumpi_file file;
  dumpi_status *status;
} dumpi_file_write_ordered_end;

typedef struct dumpi_file_get_type_extent {
  dumpi_file file;
  dumpi_datatype datatype;
  int extent;
} dumpi_file_get_type_extent;

typedef struct dumpi_register_datarep {
  char *name;
} dumpi_register_datarep;

typedef struct dumpi_file_set_atomicity {
  dumpi_file file;
  int flag;
} dumpi_file_set_atomicity;

typedef struct dumpi_file_get_atomicity {
  dumpi_file file;
  int flag;
} dumpi_file_get_atomicity;

typedef struct dumpi_file_sync {
  dumpi_file file;
} dumpi_file_sync;

typedef struct dumpio_test {
  dumpio_request request;
  int flag;
  dumpi_status *status;
} dumpio_test;

typedef struct dumpio_wait {
  dumpio_request request;
  dumpi_status *status;
} dumpio_wait;

typedef struct dumpio_testall {
  int count;
  dumpio_request *requests;
  int flag;
  dumpi_status *statuses;
} dumpio_testall;

typedef struct dumpio_waitall {
  int count;
  dumpio_request *requests;
  dumpi_status *statuses;
} dumpio_waitall;

typedef struct dumpio_testany {
  int count;
  dumpio_request *requests;
  int index;
  int flag;
  dumpi_status *statuses;
} dumpio_testany;

typedef struct dumpio_waitany {
  int count;
  dumpio_request *requests;
  int index;
  dumpi_status *statuses;
} dumpio_waitany;

typedef struct dumpio_waitsome {
  int count;
  dumpio_request *requests;
  int outcount;
  int *indices;
  dumpi_status *statuses;
} dumpio_waitsome;

typedef struct dumpio_testsome {
  int count;
  dumpio_request *requests;
  int outcount;
  int *indices;
  dumpi_status *statuses;
} dumpio_testsome;


#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
