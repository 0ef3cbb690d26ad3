#include "tools/fallow/one_file_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <system_error>
#include <utility>

namespace fallow::tool {
namespace {

constexpr std::size_t kMaxRequestBytes = 64 << 10;
constexpr std::size_t kMaxClients = 64;
constexpr int kSendTimeoutSeconds = 60;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string random_token() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    fail("no random numbers");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

constexpr std::string_view kAllowed =
    "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: *\r\n"
    "Access-Control-Allow-Private-Network: true\r\n";

std::string head(std::string_view status, std::string_view fields, std::size_t length) {
  return fmt::format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n", status,
                     fields, length);
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    const bool plain =
        byte < 0x80 && (std::isalnum(byte) != 0 ||
                        std::string_view("-._~").find(character) != std::string_view::npos);
    encoded += plain ? std::string(1, character) : fmt::format("%{:02X}", byte);
  }
  return encoded;
}

OneFileServer::OneFileServer(std::string content, std::string name, std::uint16_t port)
    : content_(std::move(content)),
      path_("/" + random_token() + "/" + percent_encoded(name)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (listener_ < 0) fail("no socket");
  const int yes = 1;
  setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, generic, length) != 0 || listen(listener_, 16) != 0 ||
      getsockname(listener_, generic, &length) != 0) {
    const int error = errno;
    close(listener_);
    throw std::system_error(error, std::generic_category(),
                            fmt::format("cannot listen on 127.0.0.1, port {}", port));
  }
  port_ = ntohs(address.sin_port);
}

OneFileServer::~OneFileServer() {
  for (const Client& client : clients_) close(client.socket);
  close(listener_);
}

std::string OneFileServer::address() const {
  return fmt::format("http://127.0.0.1:{}{}", port_, path_);
}

void OneFileServer::serve(bool keep) {
  for (bool served = false; keep || !served;) {
    std::vector<pollfd> waits = {{listener_, POLLIN, 0}};
    for (const Client& client : clients_) waits.push_back({client.socket, POLLIN, 0});
    if (poll(waits.data(), waits.size(), -1) < 0) {
      if (errno == EINTR) continue;
      fail("waiting for a client failed");
    }
    for (std::size_t i = clients_.size(); i-- > 0;) {
      if (waits[i + 1].revents == 0 || !read_from(clients_[i], served)) continue;
      close(clients_[i].socket);
      clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (waits[0].revents != 0) accept_client();
  }
}

void OneFileServer::accept_client() {
  const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return;
  const timeval limit{kSendTimeoutSeconds, 0};
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  // The oldest gives way: browsers open connections that they never use.
  if (clients_.size() == kMaxClients) {
    close(clients_.front().socket);
    clients_.erase(clients_.begin());
  }
  clients_.push_back({socket, {}});
}

bool OneFileServer::read_from(Client& client, bool& served) {
  std::array<char, 4096> bytes;
  const ssize_t got = recv(client.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) return true;
  client.request.append(bytes.data(), static_cast<std::size_t>(got));
  if (client.request.find("\r\n\r\n") == std::string::npos) {
    return client.request.size() > kMaxRequestBytes;
  }
  served = answer(client.socket, client.request) || served;
  shutdown(client.socket, SHUT_WR);
  return true;
}

bool OneFileServer::answer(int socket, std::string_view request) const {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::string_view method = line.substr(0, line.find(' '));
  const std::string_view rest = line.substr(std::min(method.size() + 1, line.size()));
  const std::string_view path = rest.substr(0, rest.find(' '));
  if (path != path_) {
    send_all(socket, head("404 Not Found", "", 0));
    return false;
  }
  if (method == "OPTIONS") {
    send_all(socket, head("204 No Content", kAllowed, 0));
    return false;
  }
  if (method != "GET" && method != "HEAD") {
    send_all(socket, head("405 Method Not Allowed", kAllowed, 0));
    return false;
  }
  const std::string fields =
      std::string(kAllowed) +
      "Content-Type: application/octet-stream\r\nCache-Control: no-store\r\n";
  return send_all(socket, head("200 OK", fields, content_.size())) && method == "GET" &&
         send_all(socket, content_);
}

}  // namespace fallow::tool
