# fish completion for gradcli: gradcli completion fish | source
function _gradcli_completion
    set -l found (_GRADCLI_COMPLETE=fish _GRADCLI_LINE=(commandline -cp | string collect) gradcli 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end

complete --command gradcli --no-files --arguments '(_gradcli_completion)'
