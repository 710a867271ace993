# The manual page and the completions of bash, zsh and fish, made of what the program says of itself: one text, four
# forms.
#   cmake -D PROGRAM=headlight -D VERSION=1.0.0 -D OUT=PREFIX/share -P texts_of_help.cmake
cmake_minimum_required(VERSION 3.25)

# What a list of lines would take for its own stands as one byte each, so that columns keep their places.
string(ASCII 1 BACKSLASH)
string(ASCII 2 SEMICOLON)
string(ASCII 3 OPEN)
string(ASCII 4 CLOSE)
# A name that ends right before the column of the descriptions has one blank behind it, and its description on its line.
string(REPEAT "[^\n]" 26 REST_OF_NAME)
set(NAME_WITH_ONE_BLANK "(\n  -${REST_OF_NAME}) ([^ \n][^\n]*\n)(  -|\n|[A-Z])")

function(help_of RESULT)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C.UTF-8 ${PROGRAM} ${ARGN}
    OUTPUT_VARIABLE TEXT COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\\" "${BACKSLASH}" TEXT "${TEXT}")
  string(REPLACE ";" "${SEMICOLON}" TEXT "${TEXT}")
  string(REPLACE "[" "${OPEN}" TEXT "${TEXT}")
  string(REPLACE "]" "${CLOSE}" TEXT "${TEXT}")
  foreach(TIME RANGE 1)  # twice, since a match ends within the name that follows
    string(REGEX REPLACE "${NAME_WITH_ONE_BLANK}" "\\1  \\2\\3" TEXT "${TEXT}")
  endforeach()
  string(REPLACE "\n" ";" TEXT "${TEXT}")
  set(${RESULT} "${TEXT}" PARENT_SCOPE)
endfunction()

function(put_back RESULT TEXT)
  string(REPLACE "${SEMICOLON}" ";" TEXT "${TEXT}")
  string(REPLACE "${OPEN}" "[" TEXT "${TEXT}")
  string(REPLACE "${CLOSE}" "]" TEXT "${TEXT}")
  string(REPLACE "${BACKSLASH}" "\\" TEXT "${TEXT}")
  set(${RESULT} "${TEXT}" PARENT_SCOPE)
endfunction()

# roff takes a leading dot or quote for a request, a hyphen for a hyphen and a backslash for itself.
function(roff RESULT TEXT)
  string(REPLACE "${BACKSLASH}" "\\e" TEXT "${TEXT}")
  string(REPLACE "-" "\\-" TEXT "${TEXT}")
  string(REGEX REPLACE "^([.'])" "\\\\&\\1" TEXT "${TEXT}")
  put_back(TEXT "${TEXT}")
  set(${RESULT} "${TEXT}" PARENT_SCOPE)
endfunction()

# What an option does, in the manual page and, of its first line, for fish.
macro(describe_option DOES)
  roff(TEXT "${DOES}")
  string(APPEND MAN "${TEXT}\n")
  if(FISH_OPTION)
    put_back(TEXT "${DOES}")
    string(REPLACE "'" "" TEXT "${TEXT}")
    string(APPEND FISH "${FISH_OPTION} '${TEXT}'\n")
    set(FISH_OPTION "")
  endif()
endmacro()

# The commands, and what each is for.
help_of(LINES --help)
set(COMMANDS "")
set(TAIL "")
set(PART "")
foreach(LINE IN LISTS LINES)
  if(LINE MATCHES "^Subcommands:")
    set(PART commands)
  elseif(PART STREQUAL commands AND LINE MATCHES "^  ([a-z-]+) +(.+)$")
    list(APPEND COMMANDS ${CMAKE_MATCH_1})
    set(ABOUT_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
  elseif(PART STREQUAL commands AND LINE STREQUAL "")
    set(PART tail)
  elseif(PART STREQUAL tail AND NOT LINE STREQUAL "")
    roff(LINE "${LINE}")
    string(APPEND TAIL "${LINE}\n.br\n")
  endif()
endforeach()
if(NOT COMMANDS)
  message(FATAL_ERROR "${PROGRAM} --help: expected a list of subcommands, found none")
endif()

set(MAN ".TH HEADLIGHT 1 \"\" \"headlight ${VERSION}\"\n.SH NAME\nheadlight \\- attention of transformers as live heatmaps\n")
string(APPEND MAN ".SH SYNOPSIS\n.B headlight\n[\\fICOMMAND\\fR] [\\fISOURCE\\fR] [\\fIREQUEST\\fR]\n")
string(APPEND MAN ".SH DESCRIPTION\n${TAIL}.SH COMMANDS\n")
set(BASH_CASES "")
set(ZSH_CASES "")
set(FISH "# Completions of headlight for fish, made of its --help.\n")
set(ZSH_COMMANDS "")
foreach(COMMAND ${COMMANDS})
  roff(ABOUT "${ABOUT_${COMMAND}}")
  string(APPEND MAN ".SS headlight ${COMMAND}\n${ABOUT}\n")
  put_back(ABOUT "${ABOUT_${COMMAND}}")
  string(REPLACE "'" "" PLAIN "${ABOUT}")
  string(REPLACE ":" "\\:" ZSH_ABOUT "${PLAIN}")
  string(APPEND ZSH_COMMANDS "    '${COMMAND}:${ZSH_ABOUT}'\n")
  string(APPEND FISH "complete -c headlight -n __fish_use_subcommand -a ${COMMAND} -d '${PLAIN}'\n")
  help_of(LINES ${COMMAND} --help)
  foreach(LINE IN LISTS LINES)  # options of a topic stand in a help of their own
    if(LINE MATCHES "^  (--help-[a-z]+)")
      help_of(OF_TOPIC ${COMMAND} ${CMAKE_MATCH_1})
      list(APPEND LINES ${OF_TOPIC})
    endif()
  endforeach()
  set(OPTIONS "")
  set(ENTRY "")
  foreach(LINE IN LISTS LINES)
    if(LINE MATCHES "^  ((-[a-zA-Z],)?--[^ ]+[^ ]*)(.*)$")
      set(NAMES "${CMAKE_MATCH_1}")
      set(REST "${CMAKE_MATCH_3}")
      string(REGEX MATCH "--[a-z0-9-]+" LONG "${NAMES}")
      list(APPEND OPTIONS ${LONG})
      # What an option takes stands before two blanks, what it does behind them or on the next line.
      if(REST MATCHES "^(.*[^ ])?   *([^ ].*)$")
        set(TAKES "${CMAKE_MATCH_1}")
        set(DOES "${CMAKE_MATCH_2}")
      else()
        set(TAKES "${REST}")
        set(DOES "")
      endif()
      roff(HEAD "${NAMES}${TAKES}")
      string(APPEND MAN ".TP\n\\fB${HEAD}\\fR\n")
      string(SUBSTRING "${LONG}" 2 -1 SHORT)
      set(FISH_OPTION "complete -c headlight -n '__fish_seen_subcommand_from ${COMMAND}' -l ${SHORT} -d")
      if(DOES)
        describe_option("${DOES}")
      endif()
    elseif(LINE MATCHES "^ +([^ ].*)$" AND OPTIONS)
      describe_option("${CMAKE_MATCH_1}")
    elseif(LINE MATCHES "^([A-Z][^:]*):$" AND NOT LINE MATCHES "^(Usage|Options|Positionals)")
      roff(TEXT "${CMAKE_MATCH_1}")
      string(APPEND MAN ".PP\n\\fI${TEXT}\\fR\n")
    endif()
  endforeach()
  list(JOIN OPTIONS " " JOINED)
  string(APPEND BASH_CASES "    ${COMMAND}) options='${JOINED}' ;;\n")
  string(APPEND ZSH_CASES "    ${COMMAND}) options=(${JOINED}) ;;\n")
endforeach()
list(JOIN COMMANDS " " JOINED)
string(APPEND MAN ".SH EXIT STATUS\n0: done. 1: a comparison or a check differs. 2: wrong use or bad input.\n")
string(APPEND MAN ".SH FILES\n.I ~/.config/headlight\nsettings\n.br\n.I ~/.local/state/headlight\nwhat was typed and set, kept for the next start\n")

file(WRITE ${OUT}/man/man1/headlight.1 "${MAN}")
file(WRITE ${OUT}/bash-completion/completions/headlight "# Completions of headlight for bash, made of its --help.
_headlight() {
  local word=\${COMP_WORDS[COMP_CWORD]} options=''
  case \${COMP_WORDS[1]} in
${BASH_CASES}  esac
  if [[ $word == -* && -n $options ]]; then
    mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$word\")
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '${JOINED}' -- \"$word\"; compgen -f -- \"$word\")
  else
    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")
  fi
}
complete -o filenames -F _headlight headlight
")
file(WRITE ${OUT}/zsh/vendor-completions/_headlight "#compdef headlight
# Completions of headlight for zsh, made of its --help.
_headlight() {
  local -a commands options
  commands=(
${ZSH_COMMANDS}  )
  if ((CURRENT == 2)); then
    _describe command commands
    _files
    return
  fi
  case $words[2] in
${ZSH_CASES}  esac
  if [[ $PREFIX == -* ]]; then
    compadd -a options
  else
    _files
  fi
}
_headlight \"$@\"
")
file(WRITE ${OUT}/fish/vendor_completions.d/headlight.fish "${FISH}")
