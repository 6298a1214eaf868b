# bash completion for gradcli: eval "$(gradcli completion bash)"
_gradcli_completion() {
    local candidate
    COMPREPLY=()
    while IFS= read -r candidate; do
        COMPREPLY+=("$candidate")
    done < <(_GRADCLI_COMPLETE=bash _GRADCLI_LINE="${COMP_LINE:0:COMP_POINT}" _GRADCLI_WORD="$2" "$1" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[\(=/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}

complete -o default -F _gradcli_completion gradcli
