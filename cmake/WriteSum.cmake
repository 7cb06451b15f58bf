# Writes TEXT and what the FILES contain, as a hash, to OUTPUT.
set(sum "${TEXT}")
foreach(file IN LISTS FILES)
  file(SHA256 ${file} hash)
  string(APPEND sum " ${hash}")
endforeach()
string(SHA256 sum "${sum}")
file(WRITE ${OUTPUT} "${sum}\n")
