import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The renaming that exchanges two names, or replaces nothing. POSIX does not have it, and the systems do.
package enum AtomicRename {
    #if !canImport(Darwin)
    /// `renameat2` of Linux, as its C library declares it: two directories with a path each, and flags.
    private typealias RenameAt =
        @convention(c) (
            Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32

    /// `RENAME_NOREPLACE` and `RENAME_EXCHANGE`.
    private static let (noReplaceFlag, exchangeFlag): (UInt32, UInt32) = (1, 2)
    #endif

    /// Renames, in open directories.
    ///
    /// - Returns: 0, or the system's number for what went wrong: `ENOSYS`, `EINVAL` or `ENOTSUP` where the system or the file system
    ///   cannot.
    package static func rename(
        _ old: Int32,
        _ name: String,
        _ new: Int32,
        _ newName: String,
        exchanging: Bool
    ) -> Int32 {
        #if canImport(Darwin)
        let flags = UInt32(exchanging ? RENAME_SWAP : RENAME_EXCL)
        // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
        return unsafe renameatx_np(old, name, new, newName, flags) == 0 ? 0 : errno
        #else
        // Looked up by name, because the headers that Swift sees do not declare it.
        // `unsafe`: `nil` names the program itself, which stays loaded. The handle is closed once, after its last use.
        guard let program = unsafe dlopen(nil, RTLD_NOW) else { return ENOSYS }
        defer { unsafe _ = dlclose(program) }
        // `unsafe`: the name lives until `dlsym` returns, and the handle is open. A C library that exports this name exports it
        // with the type `RenameAt`, which is a C function pointer and so as wide as the symbol's address.
        guard let symbol = unsafe dlsym(program, "renameat2") else { return ENOSYS }
        let renameAt = unsafe unsafeBitCast(symbol, to: RenameAt.self)
        let flags = exchanging ? exchangeFlag : noReplaceFlag
        // `unsafe`: both names end in NUL and live until the call returns, which keeps no pointer to them.
        return unsafe renameAt(old, name, new, newName, flags) == 0 ? 0 : errno
        #endif
    }
}
