// UnsupportedError: unpack_main: kernels with a function for each thread are not modelled
// compute
namespace NAMESPACE {
void unpack_main() {}  // bug
void math_main() {}
void pack_main() {}
}  // namespace NAMESPACE
