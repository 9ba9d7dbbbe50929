#!/bin/sh
# Makes the Debian base images out of Debian packages, for machines that reach no image registry.
#
#   images/base.sh [bookworm|trixie|bullseye]...     (default: all three)
#
# An image that exists, from wherever it came, is left alone. The results bear the names of the
# official slim images and behave like them: sources that work, no service started at installation,
# no documentation.
#
# Environment:
#   FENCEPOST_DEBIAN_MIRROR    archive to install from; default: the one this host's apt uses
#   FENCEPOST_DEBIAN_SECURITY  security archive; default likewise; empty: none
#   SOURCE_DATE_EPOCH          upper bound of the files' times
set -eu
export LC_ALL=C

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# No file is newer than this, so that two runs over the same archive give the same files.
: "${SOURCE_DATE_EPOCH:=1704067200}"
export SOURCE_DATE_EPOCH

say() { echo "base.sh: $*" >&2; }
die() { say "$*"; exit 69; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# apt itself reads its sources, so one-line and deb822 files count alike.
# Origin comes from the signed Release file: another vendor's repository for the same suite is not
# mistaken for Debian's. $1: Debian, or Debian-Security.
apt_uri() {
    apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' |
        awk -F'|' -v label="$1" '
            $1 == "Debian" && $2 == label && $3 ~ /(^|\/)main$/ { sub(/\/$/, "", $4); print $4; exit }'
}

prepare() {
    if ! command -v mmdebstrap >/dev/null || [ ! -e "$keyring" ]; then
        say "installing mmdebstrap"
        as_root apt-get update -qq
        as_root apt-get install -qq -y --no-install-recommends mmdebstrap debian-archive-keyring >/dev/null
    fi
    if [ -z "${FENCEPOST_DEBIAN_MIRROR:-}" ]; then
        # The origin is unknown until the indexes have been fetched once.
        [ -n "$(apt_uri Debian)" ] || as_root apt-get update -qq
        FENCEPOST_DEBIAN_MIRROR=$(apt_uri Debian)
        : "${FENCEPOST_DEBIAN_SECURITY=$(apt_uri Debian-Security)}"
    fi
    [ -n "$FENCEPOST_DEBIAN_MIRROR" ] ||
        die "this host's apt knows no Debian archive; set FENCEPOST_DEBIAN_MIRROR"
    : "${FENCEPOST_DEBIAN_SECURITY=}"
}

# Sources in the image. $1: suite; $2: full, or main alone.
sources() {
    echo "deb [signed-by=$keyring] $FENCEPOST_DEBIAN_MIRROR $1 main"
    [ "$2" = full ] || return 0
    echo "deb [signed-by=$keyring] $FENCEPOST_DEBIAN_MIRROR $1-updates main"
    [ -z "$FENCEPOST_DEBIAN_SECURITY" ] ||
        echo "deb [signed-by=$keyring] $FENCEPOST_DEBIAN_SECURITY $1-security main"
}

# What this host's apt needs in order to reach the archive, the image's apt needs too.
apt_options() {
    apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date) ' || true
}

# Variant apt: the essential packages and apt. The rest is what the official slim images do as well:
# drop documentation, keep no package files, start no service from a package's script.
# Certificates that this host was told to trust count in the image too, as soon as ca-certificates is
# installed there: behind a proxy that opens TLS, pip could not fetch anything otherwise.
bootstrap() {
    sources "$1" "$2" > "$work/sources"
    include=debian-archive-keyring
    ! grep -q https: "$work/sources" || include=$include,ca-certificates
    # Bookworm demands a merged /usr. Laid out merged from the start, it does not need the package
    # that merges it, and with it all of Perl (45 MB).
    merged=/usr/share/mmdebstrap/hooks/merged-usr
    [ "$1" = bookworm ] && [ -d "$merged" ] || merged=
    mmdebstrap --quiet --variant=apt --format=tar --components=main \
        --include="$include" ${merged:+--hook-dir="$merged"} \
        --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/info/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/share/i18n/*' \
        --dpkgopt='path-exclude=/usr/share/lintian/*' \
        --dpkgopt='force-unsafe-io' \
        --aptopt='APT::Install-Recommends "false"' \
        --aptopt='Acquire::Languages "none"' \
        --aptopt='APT::AutoRemove::SuggestsImportant "false"' \
        --aptopt='DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; }' \
        --aptopt="$work/apt.conf" \
        --customize-hook='printf "#!/bin/sh\nexit 101\n" > "$1/usr/sbin/policy-rc.d" && chmod 755 "$1/usr/sbin/policy-rc.d"' \
        --customize-hook='
            for crt in /usr/local/share/ca-certificates/*.crt; do
                [ ! -e "$crt" ] || install -Dm644 -t "$1/usr/local/share/ca-certificates" "$crt"
            done' \
        --customize-hook='rm -rf "$1"/var/log/* "$1"/var/cache/debconf/*-old "$1"/var/lib/dpkg/*-old "$1/etc/hostname" "$1/etc/resolv.conf"' \
        "$1" "$work/$1.tar" "$work/sources"
}

make_base() {
    suite=$1 tag=debian:$1-slim
    if docker image inspect "$tag" >/dev/null 2>&1; then
        say "$tag is there"
        return
    fi
    prepare
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    # A signal alone would end the shell without that.
    trap 'exit 143' HUP INT TERM
    apt_options > "$work/apt.conf"
    say "making $tag from $FENCEPOST_DEBIAN_MIRROR"
    # An archived suite keeps its main archive longest: without updates and security it is still
    # a base to build on.
    bootstrap "$suite" full || {
        say "$suite: trying the main archive alone"
        bootstrap "$suite" main
    } || die "cannot install $suite from $FENCEPOST_DEBIAN_MIRROR"
    docker import \
        --change 'CMD ["bash"]' \
        --change "LABEL fencepost.base=$suite" \
        --message "made locally by images/base.sh from Debian packages" \
        "$work/$suite.tar" "$tag" >/dev/null
    rm -rf "$work"
    trap - EXIT HUP INT TERM
}

[ $# -gt 0 ] || set -- bookworm trixie bullseye
for suite; do
    case $suite in
        bookworm | trixie | bullseye) ;;
        *) say "unknown suite '$suite': bookworm, trixie or bullseye"; exit 64 ;;
    esac
done
for suite; do make_base "$suite"; done
