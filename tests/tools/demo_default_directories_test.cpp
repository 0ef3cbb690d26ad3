#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "platform/temporary_directory.h"
#include "tools/fallow/default_directories.h"

namespace fallow::tool {
namespace {

namespace fs = std::filesystem;
using Directories = std::vector<std::string>;

class DefaultDirectories : public ::testing::Test {
 protected:
  DefaultDirectories() {
    places_.library_parents = {directory_.file("usr/lib"), directory_.file("usr/local/lib")};
    places_.fallbacks = {directory_.file("doc"), directory_.file("include")};
  }

  test::TemporaryDirectory directory_;
  DefaultPlaces places_;
};

TEST_F(DefaultDirectories, PrefersTheNewestLibraryOfTheFirstParent) {
  for (const char* const name : {"usr/lib/python3.9/os.py", "usr/lib/python3.11/os.py",
                                 "usr/lib/python3/os.py", "usr/local/lib/python3.13/os.py"}) {
    directory_.write(name, "pass");
  }
  EXPECT_EQ(default_directories(places_), Directories{directory_.file("usr/lib/python3.11")});
}

TEST_F(DefaultDirectories, ALibraryHasItsLandmark) {
  directory_.write("usr/lib/python3.12/LICENSE", "text");
  directory_.write("usr/lib/python3.text/os.py", "pass");
  directory_.write("usr/local/lib/python3.10/os.py", "pass");
  EXPECT_EQ(default_directories(places_), Directories{directory_.file("usr/local/lib/python3.10")});
}

TEST_F(DefaultDirectories, FollowsTheInterpreterOnThePath) {
  directory_.write("opt/python/bin/python3.12", "binary");
  directory_.write("opt/python/lib/python3.12/os.py", "pass");
  fs::create_directories(directory_.file("bin"));
  fs::create_symlink(directory_.file("opt/python/bin/python3.12"), directory_.file("bin/python3"));
  places_.path = ":/no/such:" + directory_.file("bin");
  EXPECT_EQ(default_directories(places_),
            Directories{fs::canonical(directory_.file("opt/python/lib/python3.12")).string()});
}

TEST_F(DefaultDirectories, PassesOverScriptsThatStartAPython) {
  directory_.write("pyenv/shims/python3", "#!/bin/sh\nexec python3.12\n");
  directory_.write("opt/bin/python3", "binary");
  directory_.write("opt/lib64/python3.8/os.py", "pass");
  places_.path = directory_.file("pyenv/shims") + ":" + directory_.file("opt/bin") + ":";
  EXPECT_EQ(default_directories(places_),
            Directories{fs::canonical(directory_.file("opt/lib64/python3.8")).string()});
}

TEST_F(DefaultDirectories, FallsBackToWhatExists) {
  EXPECT_EQ(default_directories(places_), Directories{});
  directory_.write("include/stdio.h", "text");
  EXPECT_EQ(default_directories(places_), Directories{directory_.file("include")});
  directory_.write("doc/README", "text");
  EXPECT_EQ(default_directories(places_),
            (Directories{directory_.file("doc"), directory_.file("include")}));
}

}  // namespace
}  // namespace fallow::tool
