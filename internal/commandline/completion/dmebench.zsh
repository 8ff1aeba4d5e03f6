#compdef dmebench
# Completion of dmebench for zsh: source <(dmebench completion zsh), after compinit
_dmebench() {
	local line
	local -a found open
	while IFS= read -r line; do
		case "$line" in
		:files) _files ;;
		*=:*) open+=("$line") ;;
		*) found+=("$line") ;;
		esac
	done < <("${words[1]}" __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)
	(( ${#open} )) && _describe -t values 'option' open -S ''
	(( ${#found} )) && _describe -t values 'value' found
}
(( $+functions[compdef] )) && compdef _dmebench dmebench
