// The parts of the page in src/profile/export/report.
#pragma once

namespace fallow::profile {

/// With @STYLE@, @DATA@ and @SCRIPT@ where those belong.
extern const char* const kReportPage;
extern const char* const kReportStyle;
/// In the order in which they run.
extern const char* const kReportScripts[5];

}  // namespace fallow::profile
