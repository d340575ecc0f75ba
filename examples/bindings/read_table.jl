# julia read_table.jl DATASET TABLE COLUMN: the sum of a column of numbers, through the C interface of libfathom. No
# package is needed. Structures are those of fathom/arrow.h and fathom/fathom.h.
const lib = get(ENV, "FATHOM_LIBRARY", "libfathom.so.0")

mutable struct Stream
    get_schema::Ptr{Cvoid}; get_next::Ptr{Cvoid}; get_last_error::Ptr{Cvoid}; release::Ptr{Cvoid}; data::Ptr{Cvoid}
    Stream() = new(C_NULL, C_NULL, C_NULL, C_NULL, C_NULL)
end
struct Child   # ArrowArray
    length::Int64; nulls::Int64; offset::Int64; n_buffers::Int64; n_children::Int64
    buffers::Ptr{Ptr{Cvoid}}; children::Ptr{Ptr{Child}}; dictionary::Ptr{Child}; release::Ptr{Cvoid}; data::Ptr{Cvoid}
end
struct Bounds
    size::Csize_t; columns::Ptr{Cstring}; from_ns::Ptr{Int64}; to_ns::Ptr{Int64}; locations::Ptr{Cstring}
    metrics::Ptr{Cstring}; contexts::Ptr{Cstring}; flavour::Cstring; part::Int64; batch_rows::UInt64
end

path, table, column = ARGS
error = Ref{Ptr{Cvoid}}(C_NULL)
fail() = (println(stderr, unsafe_string(ccall((:fathom_error_text, lib), Cstring, (Ptr{Cvoid},), error[]))); exit(2))
dataset = ccall((:fathom_open, lib), Ptr{Cvoid}, (Cstring, Ptr{Cvoid}, Ptr{Ptr{Cvoid}}), path, C_NULL, error)
dataset == C_NULL && fail()
wanted = [Base.unsafe_convert(Cstring, column), Cstring(C_NULL)]
stream = Stream()
total = 0.0
GC.@preserve column wanted stream begin
    bounds = Ref(Bounds(sizeof(Bounds), pointer(wanted), C_NULL, C_NULL, C_NULL, C_NULL, C_NULL, Cstring(C_NULL), -1, 0))
    status = ccall((:fathom_table, lib), Cint, (Ptr{Cvoid}, Cstring, Ptr{Bounds}, Ref{Stream}, Ptr{Ptr{Cvoid}}),
                   dataset, table, bounds, stream, error)
    status == 0 || fail()
    while true
        batch = Ref(Child(0, 0, 0, 0, 0, C_NULL, C_NULL, C_NULL, C_NULL, C_NULL))
        ccall(stream.get_next, Cint, (Ref{Stream}, Ptr{Child}), stream, batch) == 0 || exit(2)
        batch[].release == C_NULL && break
        values = unsafe_load(unsafe_load(batch[].children))
        numbers = unsafe_wrap(Array, Ptr{Float64}(unsafe_load(values.buffers, 2)), values.length)
        global total += sum(numbers)
        ccall(batch[].release, Cvoid, (Ptr{Child},), batch)
    end
    ccall(stream.release, Cvoid, (Ref{Stream},), stream)
end
ccall((:fathom_close, lib), Cvoid, (Ptr{Cvoid},), dataset)
println(total)
