set -u
export LC_ALL=C

say() { printf '%s\n' "$*"; }
shows() { say "the bug shows"; exit 1; }
gone() { say "the bug does not show"; exit 0; }
untold() { say "cannot tell: $1"; exit 125; }

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || untold "the folder of this script cannot be found"
if [ $# -gt 0 ]; then
    case $1 in
    */*) solver=$1 ;;
    *) if [ -f "./$1" ] && [ -x "./$1" ]; then solver=./$1; else solver=$(command -v "$1"); fi ;;
    esac
elif [ -n "$found_with" ] && [ -x "$found_with" ]; then
    solver=$found_with
else
    solver=$(command -v "$name")
fi
case $solver in
/* | '') ;;
*) solver=$(pwd)/$solver ;;
esac
if [ ! -f "$solver" ] || [ ! -x "$solver" ]; then
    untold "'${1:-$name}' is not a program here; usage: repro.sh [SOLVER]"
fi

work=$(mktemp -d) || untold "there is no place for temporary files"
trap 'rm -rf "$work"' EXIT
trap 'exit 125' HUP INT TERM
limit=${LIMIT:-60}
case $limit in
'' | *[!0-9.]*) untold "LIMIT is a number of seconds, not '$limit'" ;;
esac

limited() {
    if command -v timeout >/dev/null 2>&1; then timeout -k 5 "$limit" "$@"; else "$@"; fi
}

# Runs the solver on a file: its output is in $work/out and $work/err, its exit status in $status.
run() {
    say "running: $solver on $1"
    # A solver that floods its output fills no disk: 256 MB, in blocks of 512 bytes.
    (cd "$work" && ulimit -f 524288 && call "$1" >out 2>err) 2>/dev/null
    status=$?
    case $status in
    125 | 126 | 127) untold "the solver cannot be started (exit status $status)" ;;
    esac
}

# The Nth answer of the last run.
answer() {
    tr -d '\000\r' <"$work/out" | sed 's/[[:space:]]*$//' | grep -E -x 'sat|unsat|unknown' | sed -n "$1p"
}

# How the last run ended.
ended() {
    if [ "$status" -eq 124 ]; then
        say "no end within $limit s"
    elif [ "$status" -gt 128 ]; then
        say "killed by signal $((status - 128))"
    else
        say "exit code $status"
    fi
}

# The beginning of what the last run printed, without anything that a terminal acts on.
printed() {
    cat "$work/out" "$work/err" | tr -cd '\011\012\040-\176' | sed -n '1,20s/^/    /p'
}

# All that was printed on standard output, written in one way.
plain_output() {
    tr -s '[:space:]' ' ' <"$1" | sed 's/^ //; s/ $//'
}
