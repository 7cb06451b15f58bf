# berth_order_functions(TARGET): in a release, functions that run once the scheduler has started stand next to each other.
#
# Elsewhere they are spread over all of the program, and the system maps 64 KiB around each one that is called; docs/decisions/0032
# says what that costs. The names are in function-order.gz, which tools/function-order makes. Without lld, which can follow
# such a list, the program is the same in another order.
function(berth_order_functions target)
  if(NOT BERTH_HARDEN)
    return()
  endif()
  if(NOT LLD)
    message(STATUS "There is no lld: the functions of ${target} stand in no order")
    return()
  endif()
  set(packed ${CMAKE_SOURCE_DIR}/cmake/function-order.gz)
  set(names ${CMAKE_BINARY_DIR}/function-order.txt)
  execute_process(COMMAND gzip -dc ${packed} OUTPUT_FILE ${names} COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${packed})
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${names})
  target_link_options(${target} PRIVATE LINKER:--symbol-ordering-file=${names} LINKER:--no-warn-symbol-ordering)
endfunction()
