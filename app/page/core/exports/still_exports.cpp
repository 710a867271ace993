// The functions of still.wasm.
#include "page/core/exports/exports.h"
