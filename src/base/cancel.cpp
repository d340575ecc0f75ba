#include "base/cancel.hpp"

namespace fathom {

Error cancelled_error() { return Error("interrupted").as(ErrorKind::cancelled); }

}  // namespace fathom
