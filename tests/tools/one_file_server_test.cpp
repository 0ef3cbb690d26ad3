// The server of `fallow view` with clients that behave and clients that do not.
#include "tools/fallow/one_file_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <thread>

#include "tests/support.h"

namespace fallow::tool {
namespace {

class Client {
 public:
  explicit Client(const OneFileServer& server) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const std::string address = server.address();
    const std::size_t host = address.find("127.0.0.1:") + 10;
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(host))));
    target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&target), sizeof target), 0);
    path_ = address.substr(address.find('/', host));
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const std::string& path() const { return path_; }

  void send(const std::string& text) { ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  std::string ask(const std::string& method, const std::string& path) {
    send(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    std::string answer;
    char bytes[4096];
    for (ssize_t got = 0; (got = recv(socket_, bytes, sizeof bytes, 0)) > 0;) {
      answer.append(bytes, static_cast<std::size_t>(got));
    }
    return answer;
  }

 private:
  int socket_;
  std::string path_;
};

TEST(OneFileServer, GivesTheFileOnceAndOnlyBelowItsToken) {
  const test::Watchdog watchdog;
  const std::string content(300'000, 'x');
  OneFileServer server(content, "profile.json.gz");
  std::thread serving([&server] { server.serve(false); });
  Client silent(server);  // opens a connection and never asks
  Client half(server);
  half.send("GET /");
  const std::string refused = Client(server).ask("GET", "/profile.json.gz");
  EXPECT_EQ(refused.find("HTTP/1.1 404"), 0U);
  EXPECT_EQ(refused.find("Access-Control"), std::string::npos);
  EXPECT_EQ(Client(server).ask("GET", "/../../etc/passwd").find("HTTP/1.1 404"), 0U);
  Client asks_first(server);
  const std::string allowed = asks_first.ask("OPTIONS", asks_first.path());
  EXPECT_EQ(allowed.find("HTTP/1.1 204"), 0U);
  EXPECT_NE(allowed.find("Access-Control-Allow-Origin: *"), std::string::npos);
  Client posts(server);
  EXPECT_EQ(posts.ask("POST", posts.path()).find("HTTP/1.1 405"), 0U);
  Client looks(server);
  EXPECT_LT(looks.ask("HEAD", looks.path()).size(), 1000U);
  Client takes(server);
  const std::string answer = takes.ask("GET", takes.path());
  EXPECT_EQ(answer.find("HTTP/1.1 200"), 0U);
  EXPECT_NE(answer.find("Access-Control-Allow-Origin: *"), std::string::npos);
  EXPECT_TRUE(answer.ends_with(content));
  serving.join();
}

TEST(OneFileServer, TokensDifferAndPortsAreTaken) {
  const OneFileServer one("", "a");
  const OneFileServer two("", "a");
  const auto path = [](const OneFileServer& server) {
    return server.address().substr(server.address().rfind(':') + 6);
  };
  EXPECT_NE(path(one), path(two));
  const int port = std::stoi(one.address().substr(17));
  EXPECT_THROW(OneFileServer("", "a", static_cast<std::uint16_t>(port)), std::system_error);
}

TEST(OneFileServer, EncodesAddresses) {
  EXPECT_EQ(percent_encoded("http://a/b c"), "http%3A%2F%2Fa%2Fb%20c");
  EXPECT_EQ(percent_encoded("a-._~Z9"), "a-._~Z9");
}

}  // namespace
}  // namespace fallow::tool
