# Writes a C++ file with the styles and scripts of pages as strings; it is run by
# the build, whenever one of them changes.
#
#   cmake -D FOLDER=... -D OUTPUT=... -P EmbedFiles.cmake

set(page_style page.css)
set(run_style run.css)
set(run_scripts elements.js charts.js tables.js memory.js report.js)

function(embed name)
  set(text "const char gpuopt::page::${name}[] =\n")
  foreach(file ${ARGN})
    file(READ "${FOLDER}/${file}" content)
    string(APPEND text "    // ${file}\n    R\"page~(${content})page~\"\n")
  endforeach()
  set(result "${result}${text}    ;\n\n" PARENT_SCOPE)
endfunction()

set(result "// Written by cmake/EmbedFiles.cmake.\n#include \"Report/PageFiles.h\"\n\n")
embed(kPageStyle ${page_style})
embed(kRunStyle ${run_style})
embed(kRunScripts ${run_scripts})
file(WRITE "${OUTPUT}" "${result}")
