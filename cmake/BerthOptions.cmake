# Language level, warnings, sanitizers, hardening, ccache and the linker: everything that every target shares.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(BERTH_PCH "Precompile the standard headers that nearly every file includes" ON)
set(BERTH_BUNDLE 16 CACHE STRING "How many sources of a room are compiled together; 1 for each alone")
set(BERTH_TEST_BUNDLE 16 CACHE STRING "The same for tests, of which an edit seldom recompiles any")
set(BERTH_TEST_FLAGS "" CACHE STRING "What tests are compiled with beside the flags of the build type")
option(BERTH_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(BERTH_HARDEN "Compile and link with the hardening flags of a release" OFF)
set(BERTH_SANITIZE "" CACHE STRING "Value for -fsanitize=, empty for none")

add_library(berth_options INTERFACE)
target_compile_options(berth_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  # kube-scheduler's scores come from Go on amd64, which never fuses a*b+c; a fused one can differ by a digit.
  -ffp-contract=off
  -fPIE # libraries too: one precompiled header then serves every target
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside the standard library when it inlines strings and coroutine frames; ASan and the
  # fuzzers look for the real ones.
  target_compile_options(berth_options INTERFACE
    -Wno-restrict -Wno-mismatched-new-delete -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -fcoroutines
    # A tenth of the compiler's time is collecting garbage in a heap that it lets grow too slowly.
    --param=ggc-min-expand=200 --param=ggc-min-heapsize=600000)
  if(BERTH_BUNDLE GREATER 1)
    # It takes whatever is included for a header that others include, too; a bundle includes .cpp files.
    target_compile_options(berth_options INTERFACE -Wno-subobject-linkage)
  endif()
else()
  # clang means more by the first two than g++ does: a parameter of a friend beside a member, and fields that a
  # designated initialiser leaves at their default on purpose. The third is for libstdc++'s own std::stable_sort, the
  # fourth for a generic lambda over the fields of a struct: for one without fields it captures for nothing.
  target_compile_options(berth_options INTERFACE
    -Wno-shadow -Wno-missing-designated-field-initializers -Wno-deprecated-declarations
    -Wno-unused-lambda-capture)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  # Inlined deeper than in the other builds, Abseil's InlinedVector looks uninitialised to g++ 12.
  target_compile_options(berth_options INTERFACE -Wno-maybe-uninitialized)
endif()

if(BERTH_SANITIZE)
  target_compile_options(berth_options INTERFACE
    -fsanitize=${BERTH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(berth_options INTERFACE -fsanitize=${BERTH_SANITIZE})
endif()

if(BERTH_HARDEN)
  target_compile_options(berth_options INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS
    -fstack-protector-strong -fstack-clash-protection -fcf-protection=full)
  target_link_options(berth_options INTERFACE -pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
  # What nobody calls is left out of the binary.
  target_compile_options(berth_options INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(berth_options INTERFACE -Wl,--gc-sections)
endif()

# mold is the faster one; lld can put functions into an order, which only the binary that ships has (BerthFunctionOrder).
find_program(LLD NAMES ld.lld-19 ld.lld)
find_program(MOLD mold)
if(BERTH_HARDEN AND LLD)
  # The compiler looks for a linker that is called ld.lld.
  file(REAL_PATH ${LLD} linker)
  cmake_path(GET linker PARENT_PATH folder)
  target_link_options(berth_options INTERFACE -fuse-ld=lld -B${folder})
elseif(MOLD)
  target_link_options(berth_options INTERFACE -fuse-ld=mold)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # By the dependencies that the compiler writes down anyway: to know a file by its preprocessed text, that text would have to
  # be made first, without a precompiled header, which is a quarter of a clean build.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros)
  if(BERTH_PCH)
    list(APPEND CMAKE_CXX_COMPILER_LAUNCHER CCACHE_PCH_EXTSUM=1)
  endif()
  list(APPEND CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()
