#!/usr/bin/env bash
# Plays the agent of this working copy against its version on another branch, and fails if the agent has become worse.
#
# The action in action.yml runs this script, and other services can run it, too. It reads these variables:
#   ARENA_AGENT    the Python file of the agent
#   ARENA_AGAINST  the version to play against (default: git:origin/main)
#   ARENA_OPTIONS  more options of `arena duel`, separated by white space
#   ARENA_FAIL_ON  exit codes besides 4 with which the script fails: 3 (not better), 5 (undecided), or both
#   ARENA_RESULT   the folder for the verdict, the games and the bundle (default: duel-result, and in it a folder for each agent)
# If GITHUB_STEP_SUMMARY and GITHUB_OUTPUT are set, it writes the verdict to these files.
set -euo pipefail
set -f # words of options are no patterns; and lists of words, not arrays, because bash 3.2 refuses empty arrays here

agent=${ARENA_AGENT:?names no file; set it to the Python file of the agent}
against=${ARENA_AGAINST:-git:origin/main}
name=${agent%.py}
name=${name#./}
name=${name//[^A-Za-z0-9._-]/-}
result=${ARENA_RESULT:-duel-result/$name}
options=$(tr '\n' ' ' <<<"${ARENA_OPTIONS:-}")
fail_on=$(tr '\n' ' ' <<<"${ARENA_FAIL_ON:-}")
for code in $fail_on; do
    if [[ $code != [345] ]]; then
        echo "ARENA_FAIL_ON: expected 3, 5 or both, got '$code'" >&2
        exit 2
    fi
done
# Games of an earlier call in this folder would be taken for the games of this one.
rm -rf "$result/games" "$result/result.arena"
mkdir -p "$result"
: >"$result/verdict.txt" >"$result/messages.txt"

# A checkout of a pull request often lacks the branch that it is compared with.
code=0
branch=${against#git:origin/}
if [[ $against == git:origin/* ]] && git check-ref-format "refs/heads/$branch" &&
    ! git rev-parse --verify --quiet "refs/remotes/origin/$branch^{commit}" >/dev/null &&
    ! git fetch --quiet --no-tags --depth=1 origin "+refs/heads/$branch:refs/remotes/origin/$branch" 2>"$result/messages.txt"; then
    echo "Nothing was played: git cannot fetch the branch $branch from origin." >>"$result/messages.txt"
    cat "$result/messages.txt" >&2
    code=2
else
    set +e
    # shellcheck disable=SC2086 # each word is an option
    arena duel "$agent" --against "$against" --exit-code --folder "$result/games" $options \
        2>&1 >"$result/verdict.txt" | tee "$result/messages.txt" >&2
    code=${PIPESTATUS[0]}
    set -e
fi
cat "$result/verdict.txt"

store=$(find "$result/games" -maxdepth 1 -name '*.db' 2>/dev/null | sort | tail -n 1 || true)
bundle=
if [[ -n $store ]] && arena bundle --help >/dev/null 2>&1; then
    # The folder of the games has the code of both versions; the bundle has the hashes.
    if arena bundle "$store" -o "$result/result.arena" --without-code >&2; then
        bundle=$result/result.arena
    else
        echo "The bundle of the games could not be written; the message above gives the reason." >&2
    fi
fi

case $code in
0) verdict=$([[ -n $store ]] && echo better || echo "nothing was played") ;;
3) verdict="not better" ;;
4) verdict=worse ;;
5) verdict=undecided ;;
*) verdict="the duel failed" ;;
esac
status=$code
if [[ $code == [35] && " $fail_on " != *" $code "* ]]; then
    status=0
fi
if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
    {
        printf '## `arena duel`: %s\n\n' "$verdict"
        printf 'The new version of the file below plays against %s.\n\n' "\`${against//\`/}\`"
        # Four spaces make a block of code from which no text can break out.
        printf '    %s\n' "${agent//$'\n'/ }"
        sed 's/^/    /' "$result/verdict.txt"
        if ((code != 0 && code != 3 && code != 4 && code != 5)); then sed 's/^/    /' "$result/messages.txt"; fi
        printf '\nThe exit code of the duel is %s. This step %s.\n' "$code" "$( ((status)) && echo fails || echo passes)"
    } >>"$GITHUB_STEP_SUMMARY"
fi
if [[ -n ${GITHUB_OUTPUT:-} ]]; then
    printf 'verdict=%s\nexit-code=%s\nfolder=%s\nbundle=%s\nname=%s\n' \
        "$verdict" "$code" "$result" "$bundle" "$name" >>"$GITHUB_OUTPUT"
fi
exit "$status"
