# What fish reads from the folder that an integrated shell puts in front of XDG_DATA_DIRS when a fish is started from it by
# name. Puts the variable back, and loads the integration at the first prompt, when the user's own files have been read.

if set -q __PANEGLASS_NESTED
    set -l ours (string replace -r '/fish/vendor_conf.d$' '' -- (status dirname))
    if set -q __PANEGLASS_XDG
        set -gx XDG_DATA_DIRS $__PANEGLASS_XDG
    else
        set -e XDG_DATA_DIRS
    end
    # Made of it before this file is read.
    for name in fish_function_path fish_complete_path
        if string match -q "$ours/*" -- $$name
            set -g $name (string match -v "$ours/*" -- $$name)
        end
    end
    set -e __PANEGLASS_XDG
    set -e __PANEGLASS_NESTED
    if status is-interactive
        set -g __paneglass_nested $ours/../integration.fish
        function __paneglass_load --on-event fish_prompt
            functions -e __paneglass_load
            test -r "$__paneglass_nested"
            and source $__paneglass_nested
            set -e __paneglass_nested
            functions -q __paneglass_begin
            and __paneglass_begin
        end
    end
end
