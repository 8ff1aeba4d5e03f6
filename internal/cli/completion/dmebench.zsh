#compdef dmebench
# Completion of dmebench for zsh: source <(dmebench completion zsh), after compinit
_dmebench() {
	local -a before found
	local last=${words[CURRENT]}
	before=("${(@)words[1,CURRENT-1]}")
	[[ $last == -* ]] && before+=("$last")
	found=("${(@f)$("${before[@]}" --generate-bash-completion 2>/dev/null)}")
	if [[ -n ${found[1]} ]]; then
		compadd -S '' -- ${(M)found:#*=} && return
		compadd -- ${found:#*=}
	else
		_files
	fi
}
(( $+functions[compdef] )) && compdef _dmebench dmebench
