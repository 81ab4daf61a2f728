import Foundation
import Testing

/// What the program is made of, by the trait.
struct TraitTests {
    #if canImport(Glibc) || canImport(Musl)
    @Test func libvipsIsThereWhereTheTraitIsEnabledAndNowhereElse() throws {
        let maps = try #require(FileHandle(forReadingAtPath: "/proc/self/maps"))
        let mapped = String(decoding: try #require(try maps.readToEnd()), as: UTF8.self).contains("/libvips.so")
        #if Vips
        #expect(mapped)
        #else
        #expect(!mapped)
        #endif
    }
    #endif
}
