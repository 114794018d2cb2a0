# cmake --install: libraries, headers, perf programs, tutti.pc and what find_package(Tutti) reads. Everything finds everything
# else relative to itself, so that the installed tree can be moved.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tutti)
set(compat_dir ${CMAKE_INSTALL_LIBDIR}/nccl-compat)

install(TARGETS tutti EXPORT TuttiTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tutti_nccl)
  install(TARGETS tutti_nccl EXPORT TuttiTargets LIBRARY DESTINATION ${compat_dir})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

if(TUTTI_BUILD_PERF)
  get_property(programs DIRECTORY ${PROJECT_SOURCE_DIR}/perf PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER programs INCLUDE REGEX "_perf$")
  if(programs)
    set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()
# The loadable modules, one for each MPI that was found.
if(TARGET tutti)
  foreach(mpi openmpi mpich)
    if(TARGET tutti_mpi_${mpi})
      install(FILES ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/tutti_mpi_${mpi}.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
  endforeach()
endif()

install(EXPORT TuttiTargets NAMESPACE Tutti:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/install/TuttiConfig.cmake.in
  ${PROJECT_BINARY_DIR}/install/TuttiConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/TuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/TuttiConfig.cmake ${PROJECT_BINARY_DIR}/install/TuttiConfigVersion.cmake
  DESTINATION ${package_dir})

# From lib/pkgconfig up to the prefix, however deep the library folder is (Debian's has two levels).
file(RELATIVE_PATH TUTTI_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/install/tutti.pc.in ${PROJECT_BINARY_DIR}/install/tutti.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/install/tutti.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
