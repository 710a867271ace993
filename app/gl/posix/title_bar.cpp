#include "gl/title_bar.h"

namespace headlight {

void darken_title_bar(GLFWwindow*, bool) {}  // the desktop's own theme decides

}  // namespace headlight
