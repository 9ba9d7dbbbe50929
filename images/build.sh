#!/bin/sh
# Builds the server images of catalog.toml that are missing or out of date.
#
#   images/build.sh [SYSTEM[:VERSION] | ci | all | SYSTEM:official-like]...     (default: ci)
#
# The base image must be there, be pullable, or be makeable by base.sh: tried in this order.
# Prints one line an image.
set -eu
cd "$(dirname "$0")"

# system, version, tag, dockerfile, base, ci, args, tab-separated; args keep their TOML form.
catalog() {
    awk '
        function flush() { if ("tag" in v) print v["system"] "\t" v["version"] "\t" v["tag"] "\t" v["dockerfile"] "\t" v["base"] "\t" v["ci"] "\t" v["args"]; delete v }
        /^\[\[/ { flush(); image = ($0 == "[[image]]" || $0 == "[[test]]") }
        image && match($0, /^[a-z]+ = /) { key = substr($0, 1, RLENGTH - 3); value = substr($0, RLENGTH + 1); gsub(/^"|"$/, "", value); v[key] = value }
        END { flush() }' catalog.toml
}

# One build argument a line.
arguments() {
    echo "BASE=$base"
    echo "$args" | sed -e 's/^\[//' -e 's/\]$//' -e 's/", "/"\n"/g' | sed -n 's/^"\(.*\)"$/\1/p'
}

build() {
    recipe=$({ cat "$dockerfile"; arguments; } | sha256sum | cut -d' ' -f1)
    there=$(docker image inspect --format '{{index .Config.Labels "fencepost.recipe"}}' "$tag" 2>/dev/null || true)
    if [ "$there" = "$recipe" ]; then
        echo "$tag is up to date"
        return
    fi
    case $base in
        fencepost/*) ./build.sh "${base#fencepost/}" ;;
        *)
            docker image inspect "$base" >/dev/null 2>&1 ||
                docker pull --quiet "$base" >/dev/null 2>&1 ||
                { suite=${base#debian:} && ./base.sh "${suite%-slim}"; } ;;
    esac
    log=$(mktemp)
    # --force-rm: a failed build leaves no container behind.
    set -- --force-rm --tag "$tag" --label "fencepost.recipe=$recipe"
    while IFS= read -r arg; do set -- "$@" --build-arg "$arg"; done <<ARGS
$(arguments)
ARGS
    if ! docker build "$@" - < "$dockerfile" > "$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "$tag: build failed" >&2
        exit 69
    fi
    rm -f "$log"
    echo "$tag built"
}

[ $# -gt 0 ] || set -- ci
list=$(mktemp)
trap 'rm -f "$list"' EXIT
catalog > "$list"
for wanted; do
    found=
    while IFS='	' read -r system version tag dockerfile base ci args; do
        case $wanted in
            all | "$system" | "$system:$version") ;;
            ci) [ "$ci" = true ] || continue ;;
            *) continue ;;
        esac
        found=yes
        build < /dev/null
    done < "$list"
    [ -n "$found" ] || { echo "build.sh: the catalog has no '$wanted'" >&2; exit 64; }
done
