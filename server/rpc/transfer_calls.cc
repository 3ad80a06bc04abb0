#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "server/rpc/convert.h"
#include "server/rpc/emulator_service.h"
#include "server/rpc/request.h"

namespace fidelio {
namespace {

constexpr size_t kExportChunk = size_t{1} << 20;

// Where an import goes, once the caller may put it there.
absl::Status AdmitImport(Call& call, const v1::ImportModelHeader& header) {
  if (!header.model_id().empty()) return AdmitModelId(call, header.model_id(), "header.model_id");
  // The name inside the file is known at its end only, when all the work is done.
  if (call.principal().prefix.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("header.model_id: empty, but token \"", call.principal().name,
                                                 "\" must give a name that starts with \"", call.principal().prefix,
                                                 "\""));
}

}  // namespace

grpc::Status EmulatorService::ExportModel(Context* context, const v1::ExportModelRequest* request,
                                          Writer<v1::ExportModelResponse>* writer) {
  return Stream(methods::kExportModel, context, [&](Call& call) -> absl::Status {
    call.CountReceived(*request);
    FIDELIO_ASSIGN_OR_RETURN(const std::string name, AdmitModelName(call, request->name(), "name"));
    FIDELIO_ASSIGN_OR_RETURN(const std::unique_ptr<ModelExport> file,
                             parts_.models->ExportModel(name, request->all_revisions()));
    v1::ExportModelResponse response;
    while (true) {
      FIDELIO_RETURN_IF_ERROR(call.StreamStopReason());
      FIDELIO_ASSIGN_OR_RETURN(*response.mutable_chunk(), file->Next(kExportChunk));
      if (response.chunk().empty()) return absl::OkStatus();
      call.CountSent(response);
      const CallGate::Waiting waiting(parts_.environment.gate);
      if (!writer->Write(response)) return absl::CancelledError("the client went away");
    }
  });
}

grpc::Status EmulatorService::ImportModel(Context* context, grpc::ServerReader<v1::ImportModelRequest>* reader,
                                          v1::Model* response) {
  return Stream(methods::kImportModel, context, [&](Call& call) -> absl::Status {
    v1::ImportModelRequest request;
    const auto read = [&] {
      const CallGate::Waiting waiting(parts_.environment.gate);
      const bool more = reader->Read(&request);
      if (more) call.CountReceived(request);
      return more;
    };

    const bool any = read();
    FIDELIO_RETURN_IF_ERROR(call.StreamStopReason());
    if (!any || !request.has_header()) {
      return absl::InvalidArgumentError("header: missing; the first message must have it, and nothing else");
    }
    FIDELIO_RETURN_IF_ERROR(AdmitImport(call, request.header()));
    std::unique_ptr<ModelImport> file;
    {
      const Mutation mutation(call, methods::kImportModel, request.header().request_id(), request.header(),
                              "header.request_id");
      FIDELIO_RETURN_IF_ERROR(mutation.status());
      FIDELIO_ASSIGN_OR_RETURN(file, parts_.models->ImportModel(mutation.context(), request.header().model_id()));
    }
    while (read()) {
      FIDELIO_RETURN_IF_ERROR(call.StreamStopReason());
      if (request.has_header()) {
        return absl::InvalidArgumentError("header: there was one already, and only the first message may have it");
      }
      if (request.chunk().empty()) return absl::InvalidArgumentError("chunk: empty, but must have at least 1 byte");
      FIDELIO_RETURN_IF_ERROR(file->Write(request.chunk()));
    }
    // A stream that broke looks as one that ended: what came before the break must not be taken for the whole.
    FIDELIO_RETURN_IF_ERROR(call.StreamStopReason());
    FIDELIO_ASSIGN_OR_RETURN(const ModelInfo model, file->Finish());
    call.SetModel(model.name);
    ToMessage(model, response);
    call.CountSent(*response);
    return absl::OkStatus();
  });
}

}  // namespace fidelio
