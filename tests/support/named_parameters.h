// NamedParameters: a hyperparameter vector whose entries tests read and write by name.
#ifndef FIDELIO_TESTS_SUPPORT_NAMED_PARAMETERS_H_
#define FIDELIO_TESTS_SUPPORT_NAMED_PARAMETERS_H_

#include <string>
#include <utility>

#include "core/base/types.h"
#include "core/param/layout.h"
#include "gtest/gtest.h"

namespace fidelio {

class NamedParameters {
 public:
  NamedParameters(const ParameterLayout& layout, Vector theta) : layout_(layout), theta_(std::move(theta)) {}

  const Vector& theta() const { return theta_; }
  bool Has(const std::string& name) const { return Find(name) != nullptr; }

  Vector Block(const std::string& name) const {
    const ParameterBlock* block = Find(name);
    EXPECT_NE(block, nullptr) << "no parameter " << name;
    return block == nullptr ? Vector() : Vector(theta_.segment(block->offset, block->size));
  }
  double Scalar(const std::string& name) const { return Block(name)[0]; }

  // Every entry of the block; a parameter that the layout lacks is an error.
  void Set(const std::string& name, double value) {
    const ParameterBlock* block = Find(name);
    ASSERT_NE(block, nullptr) << "no parameter " << name;
    theta_.segment(block->offset, block->size).setConstant(value);
  }

 private:
  const ParameterBlock* Find(const std::string& name) const {
    for (const ParameterBlock& block : layout_.blocks()) {
      if (block.name == name) return &block;
    }
    return nullptr;
  }

  const ParameterLayout& layout_;
  Vector theta_;
};

}  // namespace fidelio

#endif  // FIDELIO_TESTS_SUPPORT_NAMED_PARAMETERS_H_
