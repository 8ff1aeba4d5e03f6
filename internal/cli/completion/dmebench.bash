# Completion of dmebench for bash: source <(dmebench completion bash)
_dmebench() {
	local line current="${COMP_WORDS[COMP_CWORD]}"
	[ "$current" = "=" ] && current=""
	COMPREPLY=()
	while IFS= read -r line; do
		if [ "$line" = ":files" ]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
		else
			COMPREPLY+=("$line")
		fi
	done < <("${COMP_WORDS[0]}" __complete bash "$COMP_LINE" "$COMP_POINT" 2>/dev/null)
	case "${COMPREPLY[0]-}" in
	*=) compopt -o nospace 2>/dev/null ;;
	esac
}
complete -F _dmebench dmebench
