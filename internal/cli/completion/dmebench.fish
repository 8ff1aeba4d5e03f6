# Completion of dmebench for fish: dmebench completion fish | source
function __dmebench_complete
	set -l words (commandline -opc)
	set -l last (commandline -ct)
	string match -q -- '-*' $last; and set -a words $last
	set -l found ($words --generate-bash-completion 2>/dev/null)
	if test -n "$found"
		string join \n -- $found
	else
		__fish_complete_path $last
	end
end
complete -c dmebench -f -a '(__dmebench_complete)'
