import Foundation
import Testing

/// What the program is made of, by the trait.
struct TraitTests {
    #if canImport(Glibc) || canImport(Musl)
    @Test func sqliteIsThereWhereTheTraitIsEnabledAndNowhereElse() throws {
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
