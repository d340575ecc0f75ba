program fortran_mpi
  use mpi
  implicit none
  integer :: requests(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), comm, newtype
  include 'fortran_body.inc'
end program
