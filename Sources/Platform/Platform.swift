// The one place that names a C library of the operating system. Everybody else imports `Platform`.
#if canImport(Glibc)
  @_exported import Glibc
#elseif canImport(Musl)
  @_exported import Musl
#elseif canImport(Darwin)
  @_exported import Darwin
#endif

/// Permissions of a file, as `open(2)` takes them.
public typealias FileMode = mode_t
