"""What a shell evaluates to complete `gradcli`: it runs the command itself, with the line in the environment.

The line goes as the shell has it, with its quotes; the answer is a candidate a line, with an explanation behind a tab.
Where there is none, the shell offers files.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Shell(StrEnum):
    """The shells that have a script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


ASKED = "_GRADCLI_COMPLETE"
"""The variable that makes of a run of the command a question for candidates; it holds the shell."""

LINE = "_GRADCLI_LINE"
"""The command line up to the cursor."""

WORD = "_GRADCLI_WORD"
"""In bash, the end of the line that a candidate is put in the place of: bash cuts words at `=` too."""

SCRIPTS: Mapping[Shell, str] = {
    # A loop in the place of mapfile, which the bash of macOS has not; compopt is not there either, and not needed.
    Shell.bash: rf"""# bash completion for gradcli: eval "$(gradcli completion bash)"
_gradcli_completion() {{
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
    done < <({ASKED}=bash {LINE}="${{COMP_LINE:0:COMP_POINT}}" {WORD}="$2" "$1" 2>/dev/null)
    if [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *[\(=/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}}

complete -o default -F _gradcli_completion gradcli
""",
    Shell.zsh: rf"""#compdef gradcli
# zsh completion for gradcli: eval "$(gradcli completion zsh)", or a file _gradcli in a directory of fpath
_gradcli_completion() {{
    local line text
    local -a bare open bare_shown open_shown
    for line in "${{(@f)$({ASKED}=zsh {LINE}="${{(j: :)words[1,CURRENT]}}" $words[1] 2>/dev/null)}}"; do
        text="${{line%%$'\t'*}}"
        if [[ -z $text ]]; then
            continue
        elif [[ $text == *[\(=/] ]]; then
            open+=("$text")
            open_shown+=("${{line/$'\t'/  -- }}")
        else
            bare+=("$text")
            bare_shown+=("${{line/$'\t'/  -- }}")
        fi
    done
    if (( $#bare + $#open == 0 )); then
        _files
        return
    fi
    (( $#bare )) && compadd -l -d bare_shown -a bare
    (( $#open )) && compadd -S '' -l -d open_shown -a open
}}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _gradcli_completion "$@"
else
    compdef _gradcli_completion gradcli
fi
""",
    Shell.fish: rf"""# fish completion for gradcli: gradcli completion fish | source
function _gradcli_completion
    set -l found ({ASKED}=fish {LINE}=(commandline -cp | string collect) gradcli 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end

complete --command gradcli --no-files --arguments '(_gradcli_completion)'
""",
}
