#include "server/telemetry/logger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

#include "server/telemetry/call_log.h"

namespace fidelio {
namespace {

using Json = nlohmann::json;

TEST(LoggerTest, TextLinesAreTimeLevelMessageAndFields) {
  std::ostringstream out;
  const auto logger = Logger::ToStream(LogFormat::kText, LogLevel::kInfo, out);
  logger->Log(LogLevel::kWarning, "fit slow",
              {{"model", "wing"}, {"why", "two words"}, {"n", 3}, {"s", 1.25}, {"ok", false}, {"empty", ""}});
  EXPECT_TRUE(std::regex_match(
      out.str(),
      std::regex(
          R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z warning fit slow model=wing why="two words" n=3 s=1.25 ok=false empty=""
)"))) << out.str();
}

TEST(LoggerTest, JsonLinesAreObjects) {
  std::ostringstream out;
  const auto logger = Logger::ToStream(LogFormat::kJson, LogLevel::kInfo, out);
  logger->Log(LogLevel::kError, "it \"broke\"", {{"n", 3}, {"s", 1.25}, {"ok", true}, {"bad", std::nan("")}});
  const Json line = Json::parse(out.str());
  EXPECT_EQ(line["level"], "error");
  EXPECT_EQ(line["message"], "it \"broke\"");
  EXPECT_EQ(line["n"], 3);
  EXPECT_EQ(line["s"], 1.25);
  EXPECT_EQ(line["ok"], true);
  EXPECT_TRUE(line["bad"].is_null());
  EXPECT_TRUE(std::regex_match(line["time"].get<std::string>(), std::regex(R"(.{10}T.{12}Z)")));
}

TEST(LoggerTest, WhatUsersSendCannotForgeALine) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    std::ostringstream out;
    const auto logger = Logger::ToStream(format, LogLevel::kInfo, out);
    logger->Log(LogLevel::kInfo, "call", {{"model", "x\n2026 error \"forged\" {}%v \x1b[31m\xff"}});
    const std::string text = out.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    if (format == LogFormat::kJson) {
      EXPECT_EQ(Json::parse(text)["model"], "x\n2026 error \"forged\" {}%v \x1b[31m\xEF\xBF\xBD");
    } else {
      EXPECT_NE(text.find(R"(model="x\n2026 error \"forged\" {}%v \u001b[31m)"), std::string::npos) << text;
    }
  }
}

TEST(LoggerTest, LinesBelowTheLevelAreLeftOut) {
  std::ostringstream out;
  const auto logger = Logger::ToStream(LogFormat::kText, LogLevel::kWarning, out);
  logger->Log(LogLevel::kInfo, "quiet");
  EXPECT_FALSE(logger->Logs(LogLevel::kInfo));
  EXPECT_EQ(out.str(), "");
  EXPECT_TRUE(logger->Logs(LogLevel::kError));
}

TEST(LoggerTest, LinesOfThreadsDoNotMix) {
  std::ostringstream out;
  const auto logger = Logger::ToStream(LogFormat::kJson, LogLevel::kInfo, out);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) logger->Log(LogLevel::kInfo, "line", {{"thread", t}, {"i", i}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_EQ(Json::parse(line)["message"], "line");
  EXPECT_EQ(count, 800);
}

TEST(CallLogTest, ACallIsOneLineWithItsFields) {
  std::ostringstream out;
  const auto logger = Logger::ToStream(LogFormat::kJson, LogLevel::kInfo, out);
  LogCall(*logger, {.method = "Predict",
                    .model = "wing",
                    .code = absl::StatusCode::kInvalidArgument,
                    .error = "inputs: 7 columns",
                    .milliseconds = 1.23456,
                    .bytes_in = 10,
                    .bytes_out = 20,
                    .token = "ci",
                    .peer = "ipv4:127.0.0.1:5"});
  const Json line = Json::parse(out.str());
  EXPECT_EQ(line["level"], "info");
  EXPECT_EQ(line["message"], "call");
  EXPECT_EQ(line["method"], "Predict");
  EXPECT_EQ(line["model"], "wing");
  EXPECT_EQ(line["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(line["ms"], 1.235);
  EXPECT_EQ(line["bytes_in"], 10);
  EXPECT_EQ(line["bytes_out"], 20);
  EXPECT_EQ(line["token"], "ci");
  EXPECT_EQ(line["peer"], "ipv4:127.0.0.1:5");
  EXPECT_EQ(line["error"], "inputs: 7 columns");
}

TEST(CallLogTest, OnlyErrorsOfTheServerAreErrors) {
  const auto level = [](absl::StatusCode code) {
    std::ostringstream out;
    const auto logger = Logger::ToStream(LogFormat::kJson, LogLevel::kInfo, out);
    LogCall(*logger, {.method = "M", .code = code});
    return Json::parse(out.str())["level"].get<std::string>();
  };
  EXPECT_EQ(level(absl::StatusCode::kOk), "info");
  EXPECT_EQ(level(absl::StatusCode::kNotFound), "info");
  EXPECT_EQ(level(absl::StatusCode::kInternal), "error");
  EXPECT_EQ(level(absl::StatusCode::kUnknown), "error");
  EXPECT_EQ(level(absl::StatusCode::kDataLoss), "error");
}

}  // namespace
}  // namespace fidelio
