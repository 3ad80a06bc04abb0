// CreateModel, GetModel, ListModels, UpdateModel, DeleteModel through a real channel.
#include "gtest/gtest.h"
#include "tests/server/rpc/test_server.h"

namespace fidelio {
namespace {

class ModelCallsTest : public ::testing::Test {
 protected:
  grpc::Status Get(const std::string& name, v1::Model* model) {
    v1::GetModelRequest request;
    request.set_name(name);
    TestContext context;
    return server_.stub().GetModel(&context, request, model);
  }

  grpc::Status List(int32_t size, const std::string& token, v1::ListModelsResponse* page) {
    v1::ListModelsRequest request;
    request.set_page_size(size);
    request.set_page_token(token);
    TestContext context;
    return server_.stub().ListModels(&context, request, page);
  }

  TestServer server_;
};

v1::CreateModelRequest FullRequest() {
  v1::CreateModelRequest request;
  request.set_model_id("wing");
  v1::Model& model = *request.mutable_model();
  model.set_description("lift of a wing — 2-D");
  model.set_input_dimension(2);
  for (const double lower : {0.0, -1.0}) model.mutable_input_box()->add_lower(lower);
  for (const double upper : {1.0, 1.0}) model.mutable_input_box()->add_upper(upper);
  model.add_fidelities()->set_name("panel");
  model.add_fidelities();
  model.mutable_fidelities(1)->set_cost(40);
  return request;
}

TEST_F(ModelCallsTest, CreatedModelIsReadBackWithItsDefaultsFilledIn) {
  v1::Model created, read;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().CreateModel(&context, FullRequest(), &created)));
  }
  EXPECT_EQ(created.name(), "models/wing");
  EXPECT_EQ(created.description(), "lift of a wing — 2-D");
  EXPECT_EQ(created.input_dimension(), 2u);
  EXPECT_EQ(created.input_box().lower(1), -1);
  ASSERT_EQ(created.fidelities_size(), 2);
  EXPECT_EQ(created.fidelities(0).name(), "panel");
  EXPECT_EQ(created.fidelities(0).cost(), 1);
  EXPECT_EQ(created.fidelities(1).name(), "level-1");
  EXPECT_EQ(created.fidelities(1).cost(), 40);
  EXPECT_EQ(created.output_transform().kind(), v1::OUTPUT_TRANSFORM_KIND_IDENTITY);
  EXPECT_EQ(created.kind(), v1::MODEL_KIND_MF_DGP);
  EXPECT_EQ(created.state(), v1::MODEL_STATE_ACTIVE);
  EXPECT_EQ(created.observation_counts_size(), 2);
  EXPECT_FALSE(created.etag().empty());
  EXPECT_GT(created.create_time().seconds(), 1'700'000'000);
  ASSERT_TRUE(IsOk(Get("models/wing", &read)));
  EXPECT_EQ(read.SerializeAsString(), created.SerializeAsString());
}

TEST_F(ModelCallsTest, ARetryWithTheSameIdGetsTheFirstAnswerAndAnotherRequestIsRefused) {
  v1::CreateModelRequest request = FullRequest();
  request.set_request_id("try-1");
  v1::Model first, second;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().CreateModel(&context, request, &first)));
  }
  server_.Create("other");
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().CreateModel(&context, request, &second)));
  }
  EXPECT_EQ(first.SerializeAsString(), second.SerializeAsString());
  request.mutable_model()->set_description("another one");
  TestContext context;
  ExpectBadField(server_.stub().CreateModel(&context, request, &second), "request_id", "try-1");
}

TEST_F(ModelCallsTest, ListsPageThroughAllModelsByName) {
  for (const char* name : {"c", "a", "e", "b", "d"}) server_.Create(name);
  std::vector<std::string> names;
  std::string token;
  int pages = 0;
  do {
    v1::ListModelsResponse page;
    ASSERT_TRUE(IsOk(List(2, token, &page)));
    ASSERT_LE(page.models_size(), 2);
    for (const v1::Model& model : page.models()) names.push_back(model.name());
    token = page.next_page_token();
    ++pages;
  } while (!token.empty());
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(names, (std::vector<std::string>{"models/a", "models/b", "models/c", "models/d", "models/e"}));
}

TEST_F(ModelCallsTest, UpdateChangesWhatTheMaskNamesAndNothingElse) {
  const v1::Model before = server_.Create("wing");
  v1::UpdateModelRequest request;
  request.mutable_model()->set_name("models/wing");
  request.mutable_model()->set_description("new");
  request.mutable_model()->set_etag(before.etag());
  request.mutable_update_mask()->add_paths("description");
  v1::Model after;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().UpdateModel(&context, request, &after)));
  }
  EXPECT_EQ(after.description(), "new");
  EXPECT_EQ(after.fidelities(0).name(), "low");
  EXPECT_NE(after.etag(), before.etag());
  request.mutable_update_mask()->add_paths("kind");
  TestContext context;
  ExpectBadField(server_.stub().UpdateModel(&context, request, &after), "update_mask.paths[1]", "\"kind\"");
}

TEST_F(ModelCallsTest, NamesOfInputsAndOutputAreReadBackAndUpdated) {
  v1::CreateModelRequest request = FullRequest();
  request.mutable_model()->clear_input_dimension();
  v1::Input* input = request.mutable_model()->add_inputs();
  input->set_name("span");
  input->set_unit("m");
  input->set_description("tip to tip");
  request.mutable_model()->add_inputs()->set_name("angle");
  request.mutable_model()->add_outputs()->set_name("lift");
  request.mutable_model()->set_keep_revisions(3);
  v1::Model model;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().CreateModel(&context, request, &model)));
  }
  ASSERT_TRUE(IsOk(Get("models/wing", &model)));
  EXPECT_EQ(model.input_dimension(), 2u);
  ASSERT_EQ(model.inputs_size(), 2);
  EXPECT_EQ(model.inputs(0).SerializeAsString(), request.model().inputs(0).SerializeAsString());
  EXPECT_EQ(model.inputs(1).name(), "angle");
  ASSERT_EQ(model.outputs_size(), 1);
  EXPECT_EQ(model.outputs(0).name(), "lift");
  EXPECT_EQ(model.keep_revisions(), 3u);

  v1::UpdateModelRequest update;
  update.mutable_model()->set_name("models/wing");
  update.mutable_model()->add_outputs()->set_name("drag");
  update.mutable_model()->mutable_outputs(0)->set_unit("N");
  for (const char* path : {"inputs", "outputs", "keep_revisions"}) update.mutable_update_mask()->add_paths(path);
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().UpdateModel(&context, update, &model)));
  }
  EXPECT_EQ(model.inputs_size(), 0);
  EXPECT_EQ(model.outputs(0).name(), "drag");
  EXPECT_EQ(model.outputs(0).unit(), "N");
  EXPECT_EQ(model.keep_revisions(), 0u);
  update.mutable_model()->add_outputs()->set_name("lift");
  TestContext context;
  ExpectBadField(server_.stub().UpdateModel(&context, update, &model), "model.outputs", "2 outputs, want at most 1");
}

TEST_F(ModelCallsTest, ADeletedModelIsGoneAndItsNameIsFree) {
  server_.Create("wing");
  v1::DeleteModelRequest request;
  request.set_name("models/wing");
  google::protobuf::Empty empty;
  {
    TestContext context;
    ASSERT_TRUE(IsOk(server_.stub().DeleteModel(&context, request, &empty)));
  }
  v1::Model model;
  EXPECT_EQ(Get("models/wing", &model).error_code(), grpc::StatusCode::NOT_FOUND);
  server_.Create("wing");
}

TEST_F(ModelCallsTest, BadFieldsAreNamedWithTheirValueAndRule) {
  v1::Model model;
  v1::ListModelsResponse page;
  ExpectBadField(Get("wing", &model), "name", "\"wing\"");
  ExpectBadField(Get("models/Wing", &model), "name", "\"models/Wing\"");
  ExpectBadField(List(-1, "", &page), "page_size", "-1");
  ExpectBadField(List(1, "nonsense", &page), "page_token", "nonsense");
  const auto create = [&](const std::function<void(v1::CreateModelRequest&)>& change) {
    v1::CreateModelRequest request = FullRequest();
    change(request);
    TestContext context;
    return server_.stub().CreateModel(&context, request, &model);
  };
  ExpectBadField(create([](auto& r) { r.set_model_id("-"); }), "model_id", "\"-\"");
  ExpectBadField(create([](auto& r) { r.mutable_model()->set_name("models/tail"); }), "model.name", "models/wing");
  ExpectBadField(create([](auto& r) { r.set_request_id("a b"); }), "request_id", "\"a b\"");
  ExpectBadField(create([](auto& r) { r.mutable_model()->set_kind(static_cast<v1::ModelKind>(77)); }), "model.kind",
                 "unknown (77)");
  ExpectBadField(create([](auto& r) { r.mutable_model()->set_input_dimension(0); }), "model.input_dimension", "0");
  ExpectBadField(create([](auto& r) { r.mutable_model()->mutable_input_box()->set_upper(1, -1); }),
                 "model.input_box.upper[1]", "-1");
  ExpectBadField(create([](auto& r) { r.mutable_model()->clear_fidelities(); }), "model.fidelities", "0");
  ExpectBadField(create([](auto& r) { r.mutable_model()->add_inputs()->set_name("my name"); }), "model.inputs",
                 "1 inputs, but input_dimension is 2");
  ExpectBadField(create([](auto& r) {
                   r.mutable_model()->add_inputs()->set_name("span");
                   r.mutable_model()->add_inputs()->set_name("my name");
                 }),
                 "model.inputs[1].name", "\"my name\", want [A-Za-z_]");
  ExpectBadField(create([](auto& r) { r.mutable_model()->set_keep_revisions(2'000'000); }), "model.keep_revisions",
                 "2000000");
}

}  // namespace
}  // namespace fidelio
