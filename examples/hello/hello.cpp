#include <fallow/version.h>

#include <cstdio>

int main() {
  std::printf("fallow %s\n", fallow::kVersion);
  return 0;
}
