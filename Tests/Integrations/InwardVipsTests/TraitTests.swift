import Foundation
import Testing

/// Tests what the process loads with and without the trait.
struct TraitTests {
    #if canImport(Glibc) || canImport(Musl)
    @Test func libvipsIsLoadedOnlyIfTheTraitIsEnabled() throws {
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
