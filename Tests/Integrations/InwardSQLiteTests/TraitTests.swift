import Foundation
import Testing

/// Checks that the dependency is linked only if the trait is enabled.
struct TraitTests {
    #if canImport(Glibc) || canImport(Musl)
    @Test func sqliteIsLinkedOnlyIfTheTraitIsEnabled() throws {
        let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        let mapped = String(decoding: try #require(try maps.readToEnd()), as: UTF8.self).contains("/libsqlite3.so")
        #if SQLite
        #expect(mapped)
        #else
        #expect(!mapped)
        #endif
    }
    #endif
}
