# Completions of paneglass for fish, as `paneglass completions fish` prints them.

function __paneglass_sessions
    paneglass list 2>/dev/null | tail -n +2 | string replace -r ' .*' ''
end

function __paneglass_command
    set -l typed (commandline -opc)
    test (count $typed) -gt 1; and test $typed[2] = $argv[1]
end

function __paneglass_no_command
    test (count (commandline -opc)) -eq 1
end

complete -c paneglass -f
complete -c paneglass -n '__paneglass_no_command' -l no-bridge -d 'fail when a server of many clients has the sessions, rather than bring the client to it'
complete -c paneglass -n '__paneglass_no_command' -l version -s V -d 'the version'
complete -c paneglass -n '__paneglass_no_command' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command demo' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command doctor' -l json -d 'one JSON array of {name, state, fact, remedy}'
complete -c paneglass -n '__paneglass_command doctor' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command serve' -l socket -r -F -d 'listen there (default: PANEGLASS_SOCKET_PATH, else paneglass/server.sock in XDG_RUNTIME_DIR)'
complete -c paneglass -n '__paneglass_command serve' -l tcp -d 'also on TCP, for requests with the token (default 8766)'
complete -c paneglass -n '__paneglass_command serve' -l host -x -d 'with --tcp: a name or address of this machine (default: the loopback alone)'
complete -c paneglass -n '__paneglass_command serve' -l print-unit -d 'print a systemd unit that starts it, and how to enable it'
complete -c paneglass -n '__paneglass_command serve' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command connect' -l actor -x -d 'what this agent is called, over reconnects too (default: the client\'s own name)'
complete -c paneglass -n '__paneglass_command connect' -l socket -r -F -d 'the server\'s socket (default: PANEGLASS_SOCKET_PATH, else paneglass/server.sock in XDG_RUNTIME_DIR)'
complete -c paneglass -n '__paneglass_command connect' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command token' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command list' -l json -d 'one JSON array'
complete -c paneglass -n '__paneglass_command list' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command attach' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command attach' -a '(__paneglass_sessions)'
complete -c paneglass -n '__paneglass_command call' -l json -d 'print the whole result as JSON, with the facts beside the text'
complete -c paneglass -n '__paneglass_command call' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command cook' -l cols -x -d 'columns of the terminal that was recorded (default 80)'
complete -c paneglass -n '__paneglass_command cook' -l rows -x -d 'its rows (default 24)'
complete -c paneglass -n '__paneglass_command cook' -l resize -x -d 'from byte AT of the recording on it had C columns and R rows; may be given again'
complete -c paneglass -n '__paneglass_command cook' -l screen -d 'print the screen as it is at the end, not the lines'
complete -c paneglass -n '__paneglass_command cook' -l tmux -x -d 'measure characters as this tmux does (default 3.3a)'
complete -c paneglass -n '__paneglass_command cook' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command cook' -F
complete -c paneglass -n '__paneglass_command ssh' -l print -d 'show the ssh command and the script in it; run nothing'
complete -c paneglass -n '__paneglass_command ssh' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command into' -l print -d 'show the command and the script in it; run nothing'
complete -c paneglass -n '__paneglass_command into' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command into' -a '(__fish_complete_command)'
complete -c paneglass -n '__paneglass_command install' -l remove -d 'take the files away again'
complete -c paneglass -n '__paneglass_command install' -l print -d 'show the ssh command and the script for it; run nothing'
complete -c paneglass -n '__paneglass_command install' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command shell' -l dir -r -F -d 'write all files there, in place of printing one; made when it is not there'
complete -c paneglass -n '__paneglass_command shell' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command shell' -a 'bash zsh fish'
complete -c paneglass -n '__paneglass_command completions' -l help -s h -d 'this text'
complete -c paneglass -n '__paneglass_command completions' -a 'bash zsh fish'
complete -c paneglass -n '__paneglass_command version' -l verbose -s v -d 'also the protocol revisions and the tmux that is found'
complete -c paneglass -n '__paneglass_command version' -l help -s h -d 'this text'
complete -c paneglass -n __paneglass_no_command -a demo -d 'show the main job, in a private session'
complete -c paneglass -n __paneglass_no_command -a doctor -d 'check what paneglass needs, and say how to mend it'
complete -c paneglass -n __paneglass_no_command -a serve -d 'serve many clients: agents and people'
complete -c paneglass -n __paneglass_no_command -a connect -d 'bring one MCP client to a running server'
complete -c paneglass -n __paneglass_no_command -a token -d 'print the token for clients on TCP'
complete -c paneglass -n __paneglass_no_command -a list -d 'list sessions'
complete -c paneglass -n __paneglass_no_command -a attach -d 'attach this terminal to a session'
complete -c paneglass -n __paneglass_no_command -a call -d 'call one tool from a script'
complete -c paneglass -n __paneglass_no_command -a cook -d 'turn a terminal recording into plain lines'
complete -c paneglass -n __paneglass_no_command -a ssh -d 'ssh, with the shell integrated on the far side'
complete -c paneglass -n __paneglass_no_command -a into -d 'enter a container or sandbox with the shell integrated'
complete -c paneglass -n __paneglass_no_command -a install -d 'put the shell integration on another host'
complete -c paneglass -n __paneglass_no_command -a shell -d 'print or write the shell integration'
complete -c paneglass -n __paneglass_no_command -a completions -d 'print completions for a shell'
complete -c paneglass -n __paneglass_no_command -a version -d 'print the version'
