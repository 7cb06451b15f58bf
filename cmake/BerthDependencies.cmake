# Every library comes from Debian's packages; tools/setup installs them.

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(absl REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
find_package(Boost 1.81 REQUIRED COMPONENTS json)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CLI11 REQUIRED)
find_package(mimalloc REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)

find_library(RE2_LIBRARY re2 REQUIRED)
find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
find_path(PROTOZERO_INCLUDE protozero/pbf_reader.hpp REQUIRED)

add_library(berth_re2 INTERFACE)
target_link_libraries(berth_re2 INTERFACE ${RE2_LIBRARY})
add_library(berth_rapidcheck INTERFACE)
target_link_libraries(berth_rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})
