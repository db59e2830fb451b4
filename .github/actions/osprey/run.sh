#!/usr/bin/env bash
# A build of a solver against its last release for some minutes: findings, a report, and an exit code. The action beside
# this file runs it; any other CI system can, too, with the same variables.
set -uo pipefail
: "${SOLVER:?the build under test}" "${REFERENCE:?a release to compare with}"
out=${OUT:-osprey-out}
osprey=${OSPREY:-${BUILT:-osprey}}

words=(-s "$SOLVER" --reference "$REFERENCE" --time "${MINUTES:-10}m" --reduce-all --out "$out")
[ -n "${KNOWN:-}" ] && words+=(--known "$KNOWN")
# Split on purpose: these are lists of words.
# shellcheck disable=SC2206
words+=(${SEEDS:-} ${ARGUMENTS:-})

"$osprey" fuzz "${words[@]}"
code=$?
# 0: nothing found, 10: findings. All else is no result.
if [ $code != 0 ] && [ $code != 10 ]; then
    echo "osprey fuzz ended with exit code $code" >&2
    exit $code
fi
"$osprey" report "$out" -o "$out-report" || exit $?
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    [ $code = 10 ] && found=true || found=false
    echo "findings=$found" >>"$GITHUB_OUTPUT"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
    cat "$out-report/report.md" >>"$GITHUB_STEP_SUMMARY"
fi
[ "${FAIL:-true}" = true ] || exit 0
exit $code
