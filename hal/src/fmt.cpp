// What fmt's headers declare and do not define, compiled once.
//
// Debian has libfmt as a shared library only. A plugin that linked that would want the same version
// of it wherever it is loaded, and a C++ library that agrees; compiled into each file that formats,
// it doubles the time of a build. So each program and library of Halyard has this object in it,
// hidden, and needs fmt's headers for building and nothing at run time.

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

}  // namespace detail
FMT_END_NAMESPACE
