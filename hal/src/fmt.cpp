// What fmt's headers declare and do not define, compiled once.
//
// Debian has libfmt as a shared library only. A plugin that linked that would want the same version
// of it wherever it is loaded, and a C++ library that agrees; compiled into each file that formats,
// it doubles the time of a build. So each program and library of Halyard has this object in it,
// hidden, and needs fmt's headers for building and nothing at run time.

// clang 22 takes the format strings that fmt 10 itself has for no constant expressions. They need
// no check here.
#define FMT_CONSTEVAL
#include <fmt/format-inl.h>

#include <locale>

FMT_BEGIN_NAMESPACE
namespace detail {

// Templates that the headers leave to the library.
template FMT_API auto dragonbox::to_decimal(float) -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double) -> dragonbox::decimal_fp<double>;
template FMT_API locale_ref::locale_ref(const std::locale&);
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<wchar_t>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API auto decimal_point_impl(locale_ref) -> wchar_t;
#if FMT_VERSION >= 100000
template FMT_API void vformat_to(buffer<char>&, string_view, typename vformat_args<>::type,
                                 locale_ref);
#endif

}  // namespace detail
FMT_END_NAMESPACE
