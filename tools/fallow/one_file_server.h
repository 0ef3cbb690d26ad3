// Gives one file to a browser on this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fallow::tool {

// An HTTP server on 127.0.0.1 that knows a single path with a random part, so that pages of other
// sites cannot guess it. Below that path any page may read (CORS): the viewer comes from elsewhere.
// One thread; a client that says nothing keeps no other waiting.
class OneFileServer {
 public:
  // Listens on a free port, or on `port`. Throws std::system_error.
  OneFileServer(std::string content, std::string name, std::uint16_t port = 0);
  ~OneFileServer();
  OneFileServer(const OneFileServer&) = delete;
  OneFileServer& operator=(const OneFileServer&) = delete;

  // "http://127.0.0.1:PORT/TOKEN/NAME"
  [[nodiscard]] std::string address() const;

  // Answers until the whole file has been given to somebody, or with `keep` until a signal ends the
  // process.
  void serve(bool keep);

 private:
  struct Client {
    int socket;
    std::string request;
  };

  void accept_client();
  // Whether the client is done with.
  bool read_from(Client& client, bool& served);
  bool answer(int socket, std::string_view request) const;

  std::string content_;
  std::string path_;
  int listener_;
  std::uint16_t port_ = 0;
  std::vector<Client> clients_;
};

// As a part of an address: everything but letters, digits and -._~ becomes %XX.
std::string percent_encoded(std::string_view text);

}  // namespace fallow::tool
