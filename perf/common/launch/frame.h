// Length-prefixed texts over stream sockets, and lists of texts in one text. Blocking; a lost peer is `false`.
#pragma once

#include <string>
#include <vector>

namespace tutti::perf {

bool send_frame(int fd, const std::string& text);
bool receive_frame(int fd, std::string* text);

std::string pack(const std::vector<std::string>& texts);
std::vector<std::string> unpack(const std::string& packed);  // of pack()'s own output

}  // namespace tutti::perf
