#include "client/cli/words.h"

#include <set>

#include "gtest/gtest.h"

namespace fidelio::cli {
namespace {

// Every value of the enum but UNSPECIFIED has a word, and no word two values.
template <typename Value>
void ExpectComplete(const Words<Value>& words, const google::protobuf::EnumDescriptor& descriptor) {
  std::set<std::string> seen;
  for (int i = 1; i < descriptor.value_count(); ++i) {
    const std::string word = WordFor(words, descriptor.value(i)->number());
    EXPECT_EQ(word.find("value"), std::string::npos) << descriptor.value(i)->name();
    EXPECT_TRUE(seen.insert(word).second) << word;
  }
  EXPECT_EQ(seen.size(), words.size());
}

TEST(WordsTest, EveryValueOfTheContractHasAWord) {
  ExpectComplete(KindWords(), *v1::ModelKind_descriptor());
  ExpectComplete(TransformWords(), *v1::OutputTransformKind_descriptor());
  ExpectComplete(KernelWords(), *v1::KernelFamily_descriptor());
  ExpectComplete(InferenceWords(), *v1::Inference_descriptor());
  ExpectComplete(MethodWords(), *v1::DesignMethod_descriptor());
  ExpectComplete(QualityWords(), *v1::QualityMode_descriptor());
  ExpectComplete(CriterionWords(), *v1::SuggestCriterion_descriptor());
}

TEST(WordsTest, ValuesOfNewerServersAreShownByNumber) {
  EXPECT_EQ(WordFor(KernelWords(), 99), "value 99");
  EXPECT_EQ(WordFor(KernelWords(), 0), "–");
  EXPECT_EQ(WordsFor(KernelWords(), std::vector<int>{1, 3}), "rbf, matern52");
}

}  // namespace
}  // namespace fidelio::cli
