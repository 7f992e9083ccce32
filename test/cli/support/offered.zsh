# Prints what zsh offers for the last word of a line, one candidate a line: zsh -f offered.zsh <script> <line>
# An interactive zsh in a pseudo-terminal loads the completion script, and reports each candidate that it adds.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= ; stty -echo; autoload -Uz compinit; compinit -u -D; source ${(q)1}"
zpty -w shell 'compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return; fi; local -a found; builtin compadd -O found "$@"; local one; for one in $found; do print -r -- "FOUND $one"; done; builtin compadd "$@" }'
zpty -w shell 'finish() { print DONE; exit }; zle -N finish; bindkey "^X" finish; zle -C offer list-choices _main_complete; bindkey "^I" offer'
zpty -w shell 'print REA''DY'
while zpty -r shell line; do [[ $line == *READY* ]] && break; done
zpty -w -n shell "$2"$'\t\x18'
while zpty -r shell line; do
  [[ $line == *DONE* ]] && break
  [[ $line == *"FOUND "* ]] && print -r -- ${${line##*FOUND }%%$'\r'*}
done
zpty -d shell
