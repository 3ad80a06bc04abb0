// Resource names. A model, fit or revision can be given by its short id: "wing" is "models/wing".
//
// Free functions without state: safe from every thread.
#ifndef FIDELIO_CLIENT_CPP_NAMES_H_
#define FIDELIO_CLIENT_CPP_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace fidelio::client {

// "models/wing" for "wing" and for "models/wing". An invalid name is kept as it is: the server refuses it.
std::string ModelName(absl::string_view model);

// "models/wing/fits/3" for ("wing", "3"); a full name is returned unchanged, whatever the model.
std::string FitName(absl::string_view model, absl::string_view fit);

// "models/wing/revisions/3" in the same way.
std::string RevisionName(absl::string_view model, absl::string_view revision);

// What follows the last '/': "3" for "models/wing/fits/3".
std::string ShortName(absl::string_view name);

}  // namespace fidelio::client

#endif  // FIDELIO_CLIENT_CPP_NAMES_H_
