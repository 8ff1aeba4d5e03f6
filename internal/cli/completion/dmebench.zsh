#compdef dmebench
# Completion of dmebench for zsh: source <(dmebench completion zsh), after compinit
_dmebench() {
	local line result=1
	local -a found open
	while IFS= read -r line; do
		case "$line" in
		:files) _files && result=0 ;;
		*=:*) open+=("$line") ;;
		*) found+=("$line") ;;
		esac
	done < <("${words[1]}" __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)
	(( ${#open} )) && _describe -t values 'option' open -S '' && result=0
	(( ${#found} )) && _describe -t values 'value' found && result=0
	return result
}
(( $+functions[compdef] )) && compdef _dmebench dmebench
