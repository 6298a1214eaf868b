#compdef gradcli
# zsh completion for gradcli: eval "$(gradcli completion zsh)", or a file _gradcli in a directory of fpath
_gradcli_completion() {
    local line text
    local -a bare open bare_shown open_shown
    for line in "${(@f)$(_GRADCLI_COMPLETE=zsh _GRADCLI_LINE="${(j: :)words[1,CURRENT]}" $words[1] 2>/dev/null)}"; do
        text="${line%%$'\t'*}"
        if [[ -z $text ]]; then
            continue
        elif [[ $text == *[\(=/] ]]; then
            open+=("$text")
            open_shown+=("${line/$'\t'/  -- }")
        else
            bare+=("$text")
            bare_shown+=("${line/$'\t'/  -- }")
        fi
    done
    if (( $#bare + $#open == 0 )); then
        _files
        return
    fi
    (( $#bare )) && compadd -l -d bare_shown -a bare
    (( $#open )) && compadd -S '' -l -d open_shown -a open
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _gradcli_completion "$@"
else
    compdef _gradcli_completion gradcli
    # else zsh takes the signs in x**2 and [1,2] for those of file names, and complains
    alias gradcli='noglob gradcli'
fi
