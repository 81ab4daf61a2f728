import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The exchange of two names in one step, which POSIX does not have and the systems do.
enum DirectoryExchange {
    #if !canImport(Darwin)
    /// `renameat2` of Linux, as its C library declares it: two directories with a path each, and flags.
    private typealias RenameAt =
        @convention(c) (
            Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32

    /// `RENAME_EXCHANGE`.
    private static let exchangeFlag: UInt32 = 2
    #endif

    /// Gives each of two things the other's name. It says `false` where the system or the file system cannot, and nothing has changed.
    static func exchanged(_ one: URL, _ other: URL) -> Bool {
        let (one, other) = (one.path(percentEncoded: false), other.path(percentEncoded: false))
        #if canImport(Darwin)
        // `unsafe`: the texts live until the call returns, and the call keeps no pointer to them.
        return unsafe renamex_np(one, other, UInt32(RENAME_SWAP)) == 0
        #else
        // Asked for by its name, because the headers that Swift sees do not declare it.
        // `unsafe`: a C library that has a function of this name has it with this type, and one that has none says so. The texts
        // live until the call returns, which keeps no pointer to them.
        guard let program = unsafe dlopen(nil, RTLD_NOW) else { return false }
        defer { unsafe _ = dlclose(program) }
        guard let symbol = unsafe dlsym(program, "renameat2") else { return false }
        let renameAt = unsafe unsafeBitCast(symbol, to: RenameAt.self)
        return unsafe renameAt(AT_FDCWD, one, AT_FDCWD, other, exchangeFlag) == 0
        #endif
    }
}
