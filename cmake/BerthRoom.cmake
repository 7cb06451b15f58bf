# berth_room(NAME
#   SOURCES ...      .cpp files in src/NAME; none = headers only
#   BUNDLE N         how many of them are compiled together at most, where it is not BERTH_BUNDLE
#   DEPENDS ...      rooms whose headers this room may include (and what those may include)
#   LIBRARIES ...    packages it links
#   TESTS ...        test/NAME/*_test.cpp, one executable berth_NAME_test
#   TEST_DEPENDS ... rooms that only the tests include
#   TEST_LIBRARIES . packages that only the tests link
#   BENCHMARKS ...   test/NAME/*_bench.cpp, one executable berth_NAME_bench
#   FUZZERS ...)     test/NAME/*_fuzz.cpp, one executable each; their corpus is replayed as a test
#
# The room gets an include root of its own, a link rooms/NAME/NAME -> src/NAME in the build folder. So
# #include "queue/..." resolves only where DEPENDS says so, and a wrong include does not compile.
function(berth_room name)
  cmake_parse_arguments(ROOM "" "BUNDLE"
    "SOURCES;DEPENDS;LIBRARIES;TESTS;TEST_DEPENDS;TEST_LIBRARIES;BENCHMARKS;FUZZERS" ${ARGN})
  set(target berth_${name})
  set(root ${CMAKE_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${name} ${root}/${name} SYMBOLIC)

  list(TRANSFORM ROOM_DEPENDS PREPEND berth_ OUTPUT_VARIABLE room_targets)
  berth_reached(reached ${ROOM_DEPENDS})
  set_property(GLOBAL PROPERTY BERTH_REACHED_${name} "${reached}")
  if(ROOM_SOURCES)
    if(NOT ROOM_BUNDLE)
      set(ROOM_BUNDLE ${BERTH_BUNDLE})
    endif()
    berth_bundle(bundles ${target} ${ROOM_BUNDLE} ${ROOM_SOURCES})
    add_library(${target} STATIC ${bundles})
    target_include_directories(${target} PUBLIC ${root})
    target_link_libraries(${target} PUBLIC ${room_targets} PRIVATE berth_options ${ROOM_LIBRARIES})
    berth_use_pch(${target} ROOMS ${reached})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${root})
    target_link_libraries(${target} INTERFACE ${room_targets} ${ROOM_LIBRARIES})
  endif()
  set_property(GLOBAL APPEND PROPERTY BERTH_ROOMS ${name})
  set_property(GLOBAL PROPERTY BERTH_DEPENDS_${name} "${ROOM_DEPENDS}")

  set(test_dir ${CMAKE_SOURCE_DIR}/test/${name})
  list(TRANSFORM ROOM_TEST_DEPENDS PREPEND berth_ OUTPUT_VARIABLE test_targets)
  if(ROOM_TESTS)
    list(TRANSFORM ROOM_TESTS PREPEND ${test_dir}/ OUTPUT_VARIABLE tests)
    berth_bundle(bundles ${target}_test ${BERTH_TEST_BUNDLE} ${tests})
    add_executable(${target}_test ${bundles})
    target_include_directories(${target}_test PRIVATE ${CMAKE_SOURCE_DIR}/test)
    target_link_libraries(${target}_test PRIVATE ${target} ${test_targets} berth_options ${ROOM_LIBRARIES}
      ${ROOM_TEST_LIBRARIES} GTest::gmock GTest::gtest_main berth_rapidcheck Threads::Threads)
    berth_reached(reached ${name} ${ROOM_TEST_DEPENDS})
    berth_use_pch(${target}_test TEST ROOMS ${reached})
    add_test(NAME ${name} COMMAND ${target}_test)
  endif()
  if(ROOM_BENCHMARKS)
    list(TRANSFORM ROOM_BENCHMARKS PREPEND ${test_dir}/ OUTPUT_VARIABLE benchmarks)
    add_executable(${target}_bench EXCLUDE_FROM_ALL ${benchmarks})
    target_include_directories(${target}_bench PRIVATE ${CMAKE_SOURCE_DIR}/test)
    target_link_libraries(${target}_bench PRIVATE ${target} ${test_targets} berth_options ${ROOM_LIBRARIES}
      ${ROOM_TEST_LIBRARIES} benchmark::benchmark_main mimalloc)
    set_property(GLOBAL APPEND PROPERTY BERTH_BENCHMARK_TARGETS ${target}_bench)
  endif()
  foreach(fuzzer IN LISTS ROOM_FUZZERS)
    berth_fuzzer(${name} ${fuzzer} ${target})
  endforeach()

  file(GLOB sources_there RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp */*.cpp)
  file(GLOB tests_there RELATIVE ${test_dir} CONFIGURE_DEPENDS
    ${test_dir}/*_test.cpp ${test_dir}/*_bench.cpp ${test_dir}/*_fuzz.cpp)
  set(listed ${ROOM_SOURCES} ${ROOM_TESTS} ${ROOM_BENCHMARKS} ${ROOM_FUZZERS})
  foreach(file IN LISTS sources_there tests_there)
    if(NOT file IN_LIST listed AND NOT file STREQUAL "main.cpp")
      message(${BERTH_UNLISTED} "${name}: ${file} is in no list of src/${name}/CMakeLists.txt, so nothing would build it")
    endif()
  endforeach()
endfunction()

# Sources that are compiled together, at most MOST to a bundle and all bundles about as large: most of a file's time goes into
# headers, and a bundle reads them once (docs/decisions/0016). A bundle names its files relative to itself, so that ccache finds in
# one clone what another compiled. A file with compile definitions of its own stays alone.
function(berth_bundle out target most)
  set(bundles "")
  set(bundled "")
  set(folder ${CMAKE_BINARY_DIR}/bundles)
  foreach(file IN LISTS ARGN)
    get_source_file_property(definitions ${file} COMPILE_DEFINITIONS)
    if(BERTH_BUNDLE LESS 2 OR definitions)
      list(APPEND bundles ${file})
    else()
      list(APPEND bundled ${file})
    endif()
  endforeach()
  set(first 0)
  list(LENGTH bundled left)
  math(EXPR bundles_left "(${left} + ${most} - 1) / ${most}")
  while(left GREATER 0)
    math(EXPR size "(${left} + ${bundles_left} - 1) / ${bundles_left}")
    list(SUBLIST bundled ${first} ${size} members)
    set(text "")
    foreach(file IN LISTS members)
      cmake_path(ABSOLUTE_PATH file)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${folder} OUTPUT_VARIABLE path)
      string(APPEND text "#include \"${path}\"\n")
    endforeach()
    berth_write_bundle(bundles ${folder}/${target} "${text}")
    math(EXPR first "${first} + ${size}")
    math(EXPR left "${left} - ${size}")
    math(EXPR bundles_left "${bundles_left} - 1")
  endwhile()
  set(${out} ${bundles} PARENT_SCOPE)
endfunction()

function(berth_write_bundle list_name prefix text)
  list(LENGTH ${list_name} number)
  set(file ${prefix}_${number}.cpp)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  set(${list_name} ${${list_name}} ${file} PARENT_SCOPE)
endfunction()

# The rooms given and all that these may include.
function(berth_reached out)
  set(reached ${ARGN})
  foreach(room IN LISTS ARGN)
    get_property(further GLOBAL PROPERTY BERTH_REACHED_${room})
    list(APPEND reached ${further})
  endforeach()
  list(REMOVE_DUPLICATES reached)
  set(${out} "${reached}" PARENT_SCOPE)
endfunction()

# While a file is being written it may not be listed yet: -DBERTH_UNLISTED=WARNING lets the rest build.
set(BERTH_UNLISTED FATAL_ERROR CACHE STRING "What to do about a source file that no list mentions")

add_library(berth_replay_corpus OBJECT ${CMAKE_SOURCE_DIR}/test/support/replay_corpus.cpp)
target_link_libraries(berth_replay_corpus PRIVATE berth_options)
berth_use_pch(berth_replay_corpus)

# A fuzzer is one function over bytes. Under the fuzz preset libFuzzer drives it; everywhere else it is
# linked with a small driver that replays test/corpus/<fuzzer>/ once, as a test.
function(berth_fuzzer room source target)
  string(REGEX REPLACE "_fuzz\\.cpp$" "" short ${source})
  set(fuzz_target ${target}_${short}_fuzz)
  set(corpus ${CMAKE_SOURCE_DIR}/test/corpus/${room}_${short})
  add_executable(${fuzz_target} ${CMAKE_SOURCE_DIR}/test/${room}/${source})
  target_include_directories(${fuzz_target} PRIVATE ${CMAKE_SOURCE_DIR}/test)
  target_link_libraries(${fuzz_target} PRIVATE ${target} berth_options)
  if(BERTH_FUZZ)
    target_link_options(${fuzz_target} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${fuzz_target} PRIVATE berth_replay_corpus)
    berth_use_pch(${fuzz_target})
    add_test(NAME ${room}_${short}_corpus COMMAND ${fuzz_target} ${corpus})
  endif()
  set_property(GLOBAL APPEND PROPERTY BERTH_FUZZ_TARGETS ${fuzz_target})
endfunction()

# A folder under src/ or test/ that belongs to no room would be silently left out of the build.
function(berth_check_every_file_is_listed)
  get_property(rooms GLOBAL PROPERTY BERTH_ROOMS)
  file(GLOB folders RELATIVE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/src/*)
  foreach(folder IN LISTS folders)
    if(NOT folder IN_LIST rooms)
      message(${BERTH_UNLISTED} "src/${folder} is no room: call berth_room in it and add it to the top CMakeLists.txt")
    endif()
  endforeach()
  # The room table as the build knows it, for the test that compares it with docs/architecture.md.
  set(table "")
  foreach(room IN LISTS rooms)
    get_property(depends GLOBAL PROPERTY BERTH_DEPENDS_${room})
    string(REPLACE ";" " " depends "${depends}")
    string(APPEND table "${room}:${depends}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/rooms/table.txt CONTENT "${table}" @ONLY)
  get_property(fuzzers GLOBAL PROPERTY BERTH_FUZZ_TARGETS)
  add_custom_target(berth_fuzzers DEPENDS ${fuzzers})
  get_property(benchmarks GLOBAL PROPERTY BERTH_BENCHMARK_TARGETS)
  add_custom_target(berth_benchmarks DEPENDS ${benchmarks})
endfunction()
