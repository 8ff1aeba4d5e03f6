# Completion of dmebench for bash: source <(dmebench completion bash)
_dmebench() {
	local -a words
	local line=${COMP_LINE:0:COMP_POINT} last="" cut
	read -ra words <<<"$line"
	case $line in *[!\ ]) last=${words[-1]} && unset 'words[-1]' ;; esac
	case $last in -*) words+=("$last") ;; esac
	mapfile -t COMPREPLY < <(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$last")
	cut=${last%"${last##*[=:]}"} # bash takes what follows these signs for the word
	COMPREPLY=("${COMPREPLY[@]#"$cut"}")
	[[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	return 0
}
complete -o bashdefault -o default -F _dmebench dmebench
