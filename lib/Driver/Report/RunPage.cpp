//===- RunPage.cpp - Runs as a page ---------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/RunPage.h"

#include "Report/Html.h"
#include "Report/PageFiles.h"
#include "Report/RunData.h"
#include "gpuopt/Version.h"

using namespace llvm;
using namespace gpuopt;
using html::escape;

/// Returns the data of the page. "<" is written as an escape of JSON, so that
/// no text of a run can end the element that holds the data.
static std::string dataOf(const RunPage &page) {
  std::string text;
  raw_string_ostream stream(text);
  json::OStream json(stream);
  json.object([&] {
    json.attribute("gpuopt", kVersion);
    json.attributeArray("runs", [&] {
      for (const ShownRun &run : page.runs)
        writeRun(run, json);
    });
  });
  std::string safe;
  for (char c : text)
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

void RunPage::print(raw_ostream &os) const {
  std::string title;
  for (const ShownRun &run : runs)
    title += (title.empty() ? "" : ", ") + run.name;
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
     << "<meta charset=\"utf-8\">\n"
     << "<meta name=\"viewport\" content=\"width=device-width\">\n"
     // An icon of its own, so that browsers ask for none.
     << "<link rel=\"icon\" href=\"data:,\">\n<title>" << escape(title)
     << ": training</title>\n<style>\n"
     << page::kPageStyle << page::kRunStyle << "</style>\n</head>\n<body>\n<h1>"
     << escape(title) << "</h1>\n<nav id=\"menu\"></nav>\n"
     << "<noscript><p>This page is drawn by its script, which this browser "
        "does not run.</p></noscript>\n<main id=\"main\"></main>\n"
     << "<script type=\"application/json\" id=\"data\">" << dataOf(*this)
     << "</script>\n<script>\n"
     << page::kRunScripts << "</script>\n</body>\n</html>\n";
}
