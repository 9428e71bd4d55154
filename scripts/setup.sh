# Sourced by ./quickstart and ./check: installs the packages of packages.txt that are missing.
# Needs root or sudo for that; without either, it prints the command and stops.

# halyard_setup [GROUP…]     GROUP: product, python or suite: what these need (packages.txt marks it). Without one,
#                            all packages.
halyard_setup() {
  local root listed group packages missing=() package
  root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  listed=$(<"$root/packages.txt")
  if [ $# -gt 0 ]; then
    listed=$(for group in "$@"; do sed -n "/^#: .*\b$group\b/,/^\$/p" "$root/packages.txt"; done)
  fi
  mapfile -t packages < <(sed 's/#.*//' <<<"$listed" | tr -s ' \t' '\n' | grep .)
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
      as_root=(sudo)
    else
      echo "Some packages are missing, and installing them needs root. Run this, then start again:"
      echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
      return 1
    fi >&2
  fi
  echo "Installing ${#missing[@]} packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
