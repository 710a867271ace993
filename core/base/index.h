// The type of every count and position. By itself, because the kernels, which are compiled for several processors, must
// not see Eigen: its layout depends on the processor that it is compiled for.
#pragma once

#include <cstddef>

namespace headlight {

using Index = std::ptrdiff_t;  // = Eigen::Index

}  // namespace headlight
