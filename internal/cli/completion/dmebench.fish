# Completion of dmebench for fish: dmebench completion fish | source
function __dmebench_complete
	set -l words (commandline -opc) (commandline -ct)
	for line in ($words[1] __complete fish $words[2..-1] 2>/dev/null)
		if test "$line" = :files
			__fish_complete_path (commandline -ct)
		else
			echo $line
		end
	end
end
complete -c dmebench -f -a '(__dmebench_complete)'
