// Recordings, and what is left of them after any damage.
#include "profile/analysis/recording_reader.h"

#include <gtest/gtest.h>

#include <sstream>

#include "platform/split_mix.h"
#include "tests/profile/recording_builder.h"

namespace fallow::profile {
namespace {

using test::Bytes;
using test::RecordingBuilder;

Recording read(const std::string& file) {
  std::istringstream stream(file);
  return read_recording(stream);
}

// A recording with some of everything, in many chunks.
RecordingBuilder some_of_everything(Packing packing = Packing::kZstd) {
  RecordingBuilder builder(packing);
  builder.meta("command", std::string("program\0--option", 16));
  builder.meta("pid", "42");
  builder.epoch(1024);
  builder.module("/lib/libx.so", "abcd", 0x1000, 0x2000, 0x1000);
  const auto root = builder.node(0, NodeKind::kNative, 0x1234);
  const auto type = builder.type("Tree");
  builder.thread(1, 4711, "main");
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const auto leaf = builder.frame(root, "function" + std::to_string(i));
    builder.sample(1, static_cast<std::int64_t>(i * 1000), {i, leaf, 16 * i, 1, 0, 0});
    builder.minor(static_cast<std::int64_t>(i * 1000 + 500), i,
                  {{1, i, type, i % 2 == 0 ? SettledOutcome::kDied : SettledOutcome::kSurvived}});
    builder.pause(static_cast<std::int64_t>(i * 1000 + 600), {PauseKind::kMinor, 100, i, 10, 5});
    builder.level(static_cast<std::int64_t>(i * 1000 + 700), 0, 100, 200, 300);
    builder.flush();
  }
  builder.died(30'000, 1, {{1, 1}, {1, 3}});
  builder.lost(30'100, 2, 2048, 100, LossReason::kNoBuffer);
  builder.time(1, 30'200, root, 1'000'000, 1);
  builder.end(31'000, EndReason::kExit);
  return builder;
}

TEST(RecordingReader, ReadsSomeOfEverything) {
  for (const Packing packing : {Packing::kNone, Packing::kZstd}) {
    RecordingBuilder builder = some_of_everything(packing);
    const Recording recording = read(builder.file());
    EXPECT_FALSE(recording.damage.has_value());
    EXPECT_EQ(recording.meta_value("command"), std::string("program\0--option", 16));
    EXPECT_EQ(recording.meta_number("pid"), 42U);
    ASSERT_EQ(recording.samples.size(), 20U);
    EXPECT_EQ(recording.samples[4].bytes, 80U);
    EXPECT_EQ(recording.samples[4].time_ns, 5000);
    EXPECT_EQ(recording.samples[4].stream, 1U);
    EXPECT_EQ(recording.interval_of(recording.samples[4]), 1024U);
    EXPECT_EQ(recording.fates.size(), 22U);
    EXPECT_EQ(recording.pauses.size(), 20U);
    EXPECT_EQ(recording.pauses[1].begin_ns(), 2500);
    EXPECT_EQ(recording.levels.back().resident, 300U);
    EXPECT_EQ(recording.losses[1].bytes, 2048);
    EXPECT_TRUE(recording.time_samples.at(0).in_collector);
    EXPECT_EQ(recording.end, EndReason::kExit);
    EXPECT_EQ(recording.end_ns, 31'000);
    const Definitions& known = recording.definitions;
    EXPECT_EQ(recording.text(known.threads.at(1).name), "main");
    EXPECT_EQ(recording.text(known.types.at(1)), "Tree");
    EXPECT_EQ(known.nodes.at(1).module, 1U);
    EXPECT_EQ(recording.text(known.functions.at(3).name), "function3");
    EXPECT_EQ(recording.file_bytes, builder.file().size());
  }
}

// Cut anywhere, the file reads up to the chunk that is cut, and never says more or less than that.
TEST(RecordingReader, EveryPrefixIsReadable) {
  const std::string file = some_of_everything().file();
  std::size_t header_bytes = 0;
  std::size_t samples_before = 0;
  for (std::size_t bytes = 0; bytes <= file.size(); ++bytes) {
    try {
      const Recording recording = read(file.substr(0, bytes));
      if (header_bytes == 0) header_bytes = bytes;
      EXPECT_EQ(recording.damage.has_value(), recording.file_bytes != bytes);
      EXPECT_GE(recording.samples.size(), samples_before);
      samples_before = recording.samples.size();
      if (recording.damage) {
        EXPECT_EQ(recording.damage->offset, recording.file_bytes);
        EXPECT_FALSE(read(file.substr(0, recording.file_bytes)).damage.has_value());
      }
    } catch (const NotARecording&) {
      EXPECT_EQ(header_bytes, 0U) << "a longer prefix is refused";
    }
  }
  EXPECT_EQ(samples_before, 20U);
}

TEST(RecordingReader, FindsEveryChangedByte) {
  const std::string file = some_of_everything().file();
  const std::size_t whole = read(file).samples.size();
  for (std::size_t i = 0; i < file.size(); i += 7) {
    std::string changed = file;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    try {
      const Recording recording = read(changed);
      EXPECT_TRUE(recording.damage.has_value()) << "byte " << i;
      EXPECT_LE(recording.samples.size(), whole);
    } catch (const NotARecording&) {
      EXPECT_LT(i, 100U);
    }
  }
}

struct Bad {
  const char* what;
  std::uint8_t kind;
  std::uint64_t tag;
  Bytes body;
};

TEST(RecordingReader, RefusesWhatNamesTheUnknown) {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  const Bad cases[] = {
      {"is defined where", 2, 1, Bytes().varint(99).raw("text")},
      {"the parent", 2, 4, Bytes().varint(22).varint(22).varint(1).varint(0).varint(0)},
      {"the parent", 2, 4, Bytes().varint(22).varint(kMax).varint(1).varint(0).varint(0)},
      {"unknown kind", 2, 4, Bytes().varint(22).varint(0).varint(9).varint(0).varint(0)},
      {"unknown function", 2, 4, Bytes().varint(22).varint(0).varint(2).varint(kMax).varint(0)},
      {"unknown string", 2, 4, Bytes().varint(22).varint(0).varint(3).varint(999).varint(0)},
      {"unknown string", 2, 5, Bytes().varint(2).varint(kMax)},
      {"ends before", 2, 2, Bytes().varint(2).varint(0).varint(0).varint(9).varint(8).varint(0)},
      {"no end", 2, 8, Bytes().varint(1).varint(kMax).varint(2).varint(0).varint(0)},
      {"interval 0", 2, 7, Bytes().varint(2).varint(0).varint(0)},
      {"cut short", 2, 7, Bytes().varint(2)},
      {"cut short", 2, 3, Bytes().varint(21).varint(1).varint(1).varint(1).varint(kMax)},
      {"unknown node", 3, 16,
       Bytes().varint(0).varint(1).varint(99).varint(8).varint(1).varint(0).varint(0)},
      {"unknown epoch", 3, 16,
       Bytes().varint(0).varint(1).varint(1).varint(8).varint(0).varint(0).varint(0)},
      {"unknown type", 3, 16,
       Bytes().varint(0).varint(1).varint(1).varint(8).varint(1).varint(0).varint(7)},
      {"0 bytes", 3, 16,
       Bytes().varint(0).varint(1).varint(1).varint(0).varint(1).varint(0).varint(0)},
      {"bytes", 3, 16,
       Bytes().varint(0).varint(1).varint(1).varint(kMax).varint(1).varint(0).varint(0)},
      {"cut short", 3, 17, Bytes().varint(0).varint(1).varint(1).varint(kMax)},
      {"unknown type", 3, 17,
       Bytes().varint(0).varint(1).varint(1).varint(1).varint(1).varint(1).varint(400)},
      {"centuries", 3, 20, Bytes().varint(kMax).varint(0).varint(0).varint(0).varint(0)},
      {"centuries", 3, 19,
       Bytes().varint(0).varint(1).varint(1).varint(kMax).varint(0).varint(0).varint(0).varint(0)},
      {"cut short", 3, 16, Bytes()},
  };
  for (const Bad& bad : cases) {
    RecordingBuilder builder = some_of_everything();
    const std::size_t sound = builder.file().size();
    builder.chunk(bad.kind, 1, Bytes().record(bad.tag, bad.body).string());
    const Recording recording = read(builder.file());
    ASSERT_TRUE(recording.damage.has_value()) << bad.what;
    EXPECT_EQ(recording.damage->offset, sound);
    EXPECT_NE(recording.damage->reason.find(bad.what), std::string::npos)
        << recording.damage->reason << " instead of " << bad.what;
    EXPECT_EQ(recording.samples.size(), 20U);
  }
}

TEST(RecordingReader, SkipsWhatLaterVersionsAdd) {
  RecordingBuilder builder = some_of_everything();
  builder.chunk(9, 1, "of a later version");
  builder.definition(77, Bytes().raw("what"));
  builder.event(1, 40'000, 99, Bytes().raw("ever"));
  // A known record with a field more.
  builder.event(1, 40'000, 16,
                Bytes().varint(21).varint(1).varint(8).varint(1).varint(0).varint(0).varint(5));
  const Recording recording = read(builder.file());
  EXPECT_FALSE(recording.damage.has_value()) << recording.damage->reason;
  EXPECT_EQ(recording.samples.size(), 21U);
}

TEST(RecordingReader, RefusesOtherFiles) {
  EXPECT_THROW(read(""), NotARecording);
  EXPECT_THROW(read("\x7F"
                    "ELF and so on, long enough for the head of a chunk"),
               NotARecording);
  EXPECT_THROW(read_recording_file("/"), std::system_error);
  EXPECT_THROW(read_recording_file("/no/such/file"), std::system_error);
  RecordingBuilder builder;
  builder.chunk(1, 0, Bytes().record(1, Bytes().varint(2)).string());
  EXPECT_THROW(read(builder.file()), NotARecording);
}

TEST(RecordingReader, AModuleTakesThePlaceOfAnother) {
  RecordingBuilder builder;
  builder.module("/a", "", 0x1000, 0x3000, 0);
  builder.module("/b", "", 0x4000, 0x5000, 0);
  builder.node(0, NodeKind::kNative, 0x1000);
  builder.node(0, NodeKind::kNative, 0x3000);
  builder.module("/c", "", 0x2000, 0x4800, 0);
  builder.node(0, NodeKind::kNative, 0x1000);
  builder.node(0, NodeKind::kNative, 0x4900);
  builder.node(0, NodeKind::kNative, 0x2000);
  const Recording recording = read(builder.file());
  std::vector<std::uint32_t> modules;
  for (const Node& node : recording.definitions.nodes) modules.push_back(node.module);
  EXPECT_EQ(modules, (std::vector<std::uint32_t>{0, 1, 0, 0, 0, 3}));
}

// Sound chunks around bytes that nobody has written: nothing but an exception or damage.
TEST(RecordingReader, SurvivesRandomRecords) {
  platform::SplitMix64 random(1);
  for (int round = 0; round < 2000; ++round) {
    RecordingBuilder builder = some_of_everything(Packing::kNone);
    builder.flush();
    std::string payload;
    const std::size_t length = random.next() % 64;
    while (payload.size() < length) {
      // Mostly records with a plausible head.
      payload +=
          static_cast<char>(round % 2 == 0 ? 1 + random.next() % 7 : 16 + random.next() % 10);
      const std::size_t body = random.next() % 12;
      payload += static_cast<char>(body);
      for (std::size_t i = 0; i < body; ++i) {
        payload += static_cast<char>(random.next() % 4 == 0 ? 0xFF : random.next() % 32);
      }
    }
    builder.chunk(round % 2 == 0 ? 2 : 3, 1, payload);
    const Recording recording = read(builder.file());
    EXPECT_GE(recording.samples.size(), 20U);
  }
}

}  // namespace
}  // namespace fallow::profile
