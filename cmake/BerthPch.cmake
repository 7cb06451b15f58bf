# Precompiled headers: most of the time that a file takes is spent on what it includes.
#
# There is one for each combination of two things that a target may have, made when the first target needs it: GoogleTest,
# and the highest layer of ours that it includes (cluster or framework with those below it). A target gets what it may
# include anyway, so an edit rebuilds no more than without; docs/decisions/0004 has the reasons.

if(BERTH_PCH)
  # A precompiled header serves only those who define the same macros, and these libraries bring some.
  target_compile_definitions(berth_options INTERFACE FMT_SHARED
    BOOST_CONTAINER_DYN_LINK BOOST_CONTAINER_NO_LIB BOOST_JSON_DYN_LINK BOOST_JSON_NO_LIB)
endif()

set(BERTH_PCH_HEADERS
  <algorithm> <array> <chrono> <compare> <cstddef> <cstdint> <cstring> <expected> <functional> <map>
  <memory> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>
  <absl/container/flat_hash_map.h> <absl/container/inlined_vector.h> <boost/json.hpp> <fmt/format.h>)
if(BERTH_HARDEN)
  # Before all others, because it changes what they say.
  list(PREPEND BERTH_PCH_HEADERS "${CMAKE_SOURCE_DIR}/cmake/short_assertions.h")
endif()

# The layers from below, each with the headers that nearly everybody above it includes.
set(BERTH_PCH_LAYERS cluster framework)
set(BERTH_PCH_LAYER_cluster <cluster/cluster.h>)
set(BERTH_PCH_LAYER_framework <framework/binding_points.h> <framework/profile.h> <framework/registry.h>)

# berth_use_pch(TARGET [TEST] [ROOMS ...]); ROOMS are those that the target may include. A TEST is compiled as the preset
# wants tests compiled, and so is its precompiled header: the two must agree.
function(berth_use_pch target)
  cmake_parse_arguments(PCH "TEST" "" "ROOMS" ${ARGN})
  if(PCH_TEST)
    target_compile_options(${target} PRIVATE ${BERTH_TEST_FLAGS})
  endif()
  if(NOT BERTH_PCH)
    return()
  endif()
  set(name berth_pch)
  set(libraries "")
  set(headers ${BERTH_PCH_HEADERS})
  set(rooms "")
  if(PCH_TEST)
    string(APPEND name _test)
    list(APPEND libraries GTest::gmock)
    list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  set(top "")
  foreach(layer IN LISTS BERTH_PCH_LAYERS)
    if(layer IN_LIST PCH_ROOMS)
      set(top ${layer})
      list(APPEND headers ${BERTH_PCH_LAYER_${layer}})
    endif()
  endforeach()
  if(top)
    string(APPEND name _${top})
    list(APPEND libraries berth_${top})
    # Its sum would leave out the headers below, and ccache take it for an older one.
    get_property(is_known GLOBAL PROPERTY BERTH_REACHED_${top} SET)
    if(NOT is_known)
      message(FATAL_ERROR "${target} needs a precompiled header of room ${top}, which is added after it")
    endif()
    berth_reached(rooms ${top})
  endif()
  if(NOT TARGET ${name})
    berth_make_pch(${name} "${libraries}" "${headers}" "${rooms}")
    if(PCH_TEST)
      target_compile_options(${name} PRIVATE ${BERTH_TEST_FLAGS})
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

function(berth_make_pch name libraries headers rooms)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
  target_link_libraries(${name} PRIVATE berth_options ${libraries})
  target_precompile_headers(${name} PRIVATE ${headers})
  set(ending gch)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(ending pch)
    # Otherwise a precompiled header that ccache gives back is older than what it was made of, and clang refuses it.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  # No two precompiled headers are written alike. With a text that stands for this one, ccache finds what another build
  # folder compiled with the same headers: theirs by the compiler's version, ours by their content.
  set(files "")
  foreach(room IN LISTS rooms)
    file(GLOB room_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${room}/*.h)
    list(APPEND files ${room_headers})
  endforeach()
  get_target_property(folder ${name} BINARY_DIR)
  set(sum ${folder}/CMakeFiles/${name}.dir/cmake_pch.hxx.${ending}.sum)
  string(REPLACE ";" " " header_list "${headers}")
  add_custom_command(OUTPUT ${sum} VERBATIM
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${sum} "-DTEXT=${CMAKE_CXX_COMPILER_VERSION} ${header_list}" "-DFILES=${files}"
            -P ${CMAKE_SOURCE_DIR}/cmake/WriteSum.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/WriteSum.cmake)
  add_custom_target(${name}_sum DEPENDS ${sum})
  add_dependencies(${name} ${name}_sum)
endfunction()
