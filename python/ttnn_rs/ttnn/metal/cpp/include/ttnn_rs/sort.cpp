// std::sort of plain numbers: the standard library's headers declare these, its binary library has them.
#include <algorithm>
#include <cstdint>

_LIBCPP_BEGIN_NAMESPACE_STD

template <typename Compare, typename Iterator>
void __sort(Iterator first, Iterator last, [[maybe_unused]] Compare compare) {
    // With a comparison of one's own the headers have all of it.
    std::sort(first, last, [](const auto& a, const auto& b) { return a < b; });
}

_LIBCPP_END_NAMESPACE_STD

#define TTNN_RS_SORT(type) template void std::__sort<std::__less<type>&, type*>(type*, type*, std::__less<type>&);

TTNN_RS_SORT(char)
TTNN_RS_SORT(signed char)
TTNN_RS_SORT(unsigned char)
TTNN_RS_SORT(short)
TTNN_RS_SORT(unsigned short)
TTNN_RS_SORT(int)
TTNN_RS_SORT(unsigned)
TTNN_RS_SORT(long)
TTNN_RS_SORT(unsigned long)
TTNN_RS_SORT(long long)
TTNN_RS_SORT(unsigned long long)
TTNN_RS_SORT(float)
TTNN_RS_SORT(double)
