program fortran_f08
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status, statuses(2)
  type(MPI_Comm) :: comm
  type(MPI_Datatype) :: newtype
  include 'fortran_body.inc'
end program
