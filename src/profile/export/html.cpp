#include "profile/export/exporter.h"
namespace fallow::profile {
void write_html(const Profile&, ByteSink& to) { to.finish(); }
}  // namespace fallow::profile
