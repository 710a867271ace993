// The tensors of a checkpoint while a model is made of them: each is taken once, checked, and given out as float32, or
// left where it is in half precision; what is left over in the end is reported.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/progress.h"
#include "base/result.h"
#include "model/weights.h"
#include "read/array/array.h"
#include "read/hub/tensor_names.h"

namespace headlight {

class StoredTensors {
 public:
  /// `where` names all files together in errors and warnings; `prefix` is dropped where no name begins with it.
  /// Weights of fewer than 32 bits a number stay in their file where widening all would take more than `most_widened`
  /// bytes more than the file has. `progress` follows the bytes that are taken.
  StoredTensors(std::string_view where, StoredArrays stored, std::string_view prefix, std::size_t most_widened,
                Reading reading, Progress& progress);

  bool any_begins(std::string_view text) const;

  /// A row's name as the file has it: with the prefix, the layer and an ending.
  std::string full_name(std::string_view pattern, std::size_t layer, std::string_view ending = "") const;

  /// The tensor under the first of the names that the file has; further ones must hold the same (else a warning).
  /// Empty where there is none and need not be. Errors: missing, misshapen, integers, a number that is not finite.
  Result<Matrix> take_matrix(const std::vector<std::string>& names, TensorShape size, Need need);
  /// The same with one axis; leading axes of size 1 are dropped.
  Result<Vector> take_vector(const std::vector<std::string>& names, Index size, Need need);
  /// The weight of a linear layer or a table: its bytes in the file; a matrix where StoredMatrix does not have its kind
  /// of numbers. `transposed`: stored (in, out).
  Result<Linear> take_weight(const std::vector<std::string>& names, TensorShape size, Need need,
                             bool transposed = false);
  /// The same weight, or part of it, as the model keeps it: in its file, or packed.
  Linear kept(Linear weight) const;
  /// What take_weight() gave last is kept: gives back the pages of a weight that was packed.
  void weight_is_kept();

  /// Whether the tensor under the first of the names that the file has is of the right kind and shape; no number is
  /// read.
  Status check(const std::vector<std::string>& names, const std::vector<Index>& shape, Need need) const;

  /// Whether the first of these names that the file has is of this shape.
  bool has(const std::vector<std::string>& names, const std::vector<Index>& shape) const;

  /// An Error where the tensors, as far as they do not stay in their file, are larger than the machine's memory.
  Status check_memory() const;

  void warn(std::string_view what, std::string_view remark, ErrorCode code);
  /// Warns of every tensor that was not taken, except of `derived` ones. `model` is the model's name in the warning.
  void warn_of_surplus(const std::vector<Row>& rows, std::string_view model);
  const std::vector<Error>& warnings() const { return warnings_; }

 private:
  bool stays(StoredMatrix::Kind kind) const { return narrow_stay_ && kind != StoredMatrix::Kind::float32; }
  Result<const StoredArray*> find(const std::vector<std::string>& names, const std::vector<Index>& shape, Need need);
  static Status check_kind(const StoredArray& array, const std::string& stored_name, const std::vector<Index>& shape);
  Result<Matrix> widen(const StoredArray& array, Index rows, Index columns, const std::vector<std::string>& names);
  Error not_finite(const StoredArray& array, const std::vector<std::string>& names, Index at, float value) const;
  /// The name among these under which the array stands.
  std::string name_of(const StoredArray& array, const std::vector<std::string>& names) const;
  /// Gives back its pages, and counts it.
  void taken(const StoredArray& array);
  void count(const StoredArray& array);
  Error first_not_finite(const StoredArray& array, const std::vector<std::string>& names) const;
  bool matches(std::string_view pattern, std::string_view name) const;

  std::string where_;
  StoredArrays stored_;
  std::string prefix_;
  bool narrow_stay_ = false;
  Reading reading_;
  double bytes_ = 0, bytes_taken_ = 0;
  Progress& progress_;
  const StoredArray* weight_ = nullptr;  // that was taken last
  std::set<std::string> taken_;
  std::vector<Error> warnings_;
};

}  // namespace headlight
