// The diagram of the computation as plain data: boxes, each with the matrix it shows, and edges. No coordinates.
#pragma once

#include <string>
#include <vector>

#include "explain/matrices.h"

namespace headlight {

enum class NodeKind {
  embedding,
  norm,
  projection,
  attention,
  concat,
  output_projection,
  add,
  feed_forward,
  activation,
  other_layers,  // the blocks before or after the one that is shown
  logits,
  probabilities,
};

struct Node {
  std::string id;  // the path of the matrix it shows: unique in a diagram
  MatrixId shows;  // the result of the node
  NodeKind kind = NodeKind::embedding;
  std::string label;                      // the symbol of what it shows, or a name: "Add", "Norm", "Layers 0–2"
  Index first_layer = 0, last_layer = 0;  // of other_layers
  Index column = 0;                       // 0 the encoder's (or the only one), 1 the decoder's
};

struct Edge {
  std::size_t from = 0, to = 0;  // indices of nodes
  bool residual = false;         // goes around a sublayer
  bool cross = false;            // from the encoder's column to the decoder's
};

/// Nodes in topological order: every edge goes from a lower index to a higher one.
struct Diagram {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};

/// The computation through block `layer` of the main stack and, of an encoder-decoder, block `encoder_layer` of the
/// encoder; what is per head shows head `head`. Layers before and after are one node each. A layer or head beyond the
/// last means the last.
Diagram diagram_of(const Trace& trace, Index layer, Index encoder_layer, Index head);

}  // namespace headlight
