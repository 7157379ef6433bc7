#!/bin/sh
# Run the public conformance suite of the array API standard on mat:
#
#     tests/array_api/run.sh CHECKOUT [DEVICE] [arguments of pytest]
#
# CHECKOUT is a clone of github.com/data-apis/array-api-tests with its submodule array-api; it needs what its requirements.txt
# says. DEVICE is "cpu" (the default) or a device that everything is to compute on, such as "emulated". Tests that are listed in
# expected_failures.txt may fail. The last line says how many passed. PYTHON names the interpreter.
#
# With ARRAY_API_TESTS_MODULE=numpy in the environment it is NumPy's own namespace that is tested, and nothing is expected.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
checkout=${1:?"usage: run.sh CHECKOUT [DEVICE] [arguments of pytest]"}
shift
device=cpu
case ${1:-} in ""|-*) ;; *) device=$1; shift ;; esac
expected=$here/expected_failures.txt
if [ -z "${ARRAY_API_TESTS_MODULE:-}" ]; then
    ARRAY_API_TESTS_MODULE="exec('import mat; mat.set_device(\"$device\", required=True); xp = mat')"
    name="mat on $device"
else
    expected=/dev/null
    name=$ARRAY_API_TESTS_MODULE
fi
export ARRAY_API_TESTS_MODULE
export PYTHONPATH="$here/../..${PYTHONPATH:+:$PYTHONPATH}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cd "$checkout"
status=0
# with "=": pytest would look for a conftest.py beside a file that is an argument of its own, and find ours
"${PYTHON:-python}" -m pytest -q -p no:cacheprovider array_api_tests --disable-deadline --xfails-file="$expected" -rfE "$@" \
    > "$log" 2>&1 || status=$?
cat "$log"
awk -v name="$name" '
    / in [0-9.]+s/ {
        for (k = 2; k <= NF; k++) { word = $k; sub(",", "", word); count[word] = $(k - 1) }
    }
    END {
        passed = count["passed"] + count["xpassed"]
        failed = count["failed"] + count["error"] + count["errors"]
        print name ": " passed " of " passed + failed + count["xfailed"] + count["skipped"] " passed, " \
            failed + 0 " failed, " count["xfailed"] + 0 " failed as expected, " count["skipped"] + 0 " skipped"
    }' "$log"
exit "$status"
