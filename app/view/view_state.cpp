#include "view/view_state.h"

namespace headlight {

ViewState::ViewState() = default;
ViewState::ViewState(const ViewState&) = default;
ViewState::ViewState(ViewState&&) noexcept = default;
ViewState& ViewState::operator=(const ViewState&) = default;
ViewState& ViewState::operator=(ViewState&&) noexcept = default;
ViewState::~ViewState() = default;
bool operator==(const ViewState& a, const ViewState& b) = default;

}  // namespace headlight
