// The report in one file: the viewer's page with the answers to what it can be asked, on summarised data.
#pragma once

#include <string>
#include <vector>

#include "serve/viewer.hpp"

namespace fathom::serve {

struct ReportPageOptions {
  bool anonymous = false;               // without names of people, machines and folders
  std::size_t most_bytes = 10'000'000;  // of the file
};

struct ReportPage {
  std::string html;
  std::vector<std::string> left_out;  // what did not fit or is not in reports of this size, in words
};

// Opens from disk, asks nobody, runs nothing but its own script (which is named by its hash), and is never larger than
// the options say. An error when the program was built without the page.
Result<ReportPage> make_report_page(Viewer& viewer, const ReportPageOptions& options = {});

}  // namespace fathom::serve
