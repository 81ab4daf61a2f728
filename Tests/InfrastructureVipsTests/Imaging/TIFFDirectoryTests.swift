#if Vips
import Entities
@testable import InfrastructureVips
import Testing

struct TIFFDirectoryTests {
    private typealias Entry = (tag: Int, type: Int, count: Int, value: Int)

    /// A file that is nothing but a directory, with numbers in either order.
    private func file(_ entries: [Entry], isLittleEndian: Bool) -> EncodedImage {
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
            return isLittleEndian ? bytes : bytes.reversed()
        }
        var bytes: [UInt8] = isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]
        bytes += number(42, 2) + number(8, 4) + number(entries.count, 2)
        for entry in entries {
            bytes += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4)
            bytes += entry.type == 3 ? number(entry.value, 2) + [0, 0] : number(entry.value, 4)
        }
        return EncodedImage(bytes: bytes + number(0, 4), format: .tiff)
    }

    @Test(arguments: [true, false]) func tilesAreAsLargeAsTheirSidesSay(isLittleEndian: Bool) {
        let tiled = file([(322, 3, 1, 8_192), (323, 4, 1, 4_096)], isLittleEndian: isLittleEndian)
        #expect(TIFFDirectory(of: tiled).tilePixelCount == 8_192 * 4_096)
        #expect(!tiled.isCutShort)
        #expect(TIFFDirectory(of: file([(256, 3, 1, 8_192)], isLittleEndian: isLittleEndian)).tilePixelCount == 0)
    }

    @Test(arguments: [true, false]) func aFileGoesAsFarAsItsStripsAndValues(isLittleEndian: Bool) {
        let strips = file([(273, 4, 1, 1_000), (279, 4, 1, 234)], isLittleEndian: isLittleEndian)
        #expect(TIFFDirectory(of: strips).byteCount == 1_234)
        #expect(strips.isCutShort)
        let values = file([(282, 5, 3, 500)], isLittleEndian: isLittleEndian)
        #expect(TIFFDirectory(of: values).byteCount == 524)
    }

    @Test func numbersThatCannotBeAreNoTrap() {
        let entries: [Entry] = [
            (273, 4, 0xFFFF_FFFF, 0xFFFF_FFFF), (279, 12, 0xFFFF_FFFF, 0xFFFF_FFFF), (322, 4, 1, 0xFFFF_FFFF),
            (323, 4, 1, 0xFFFF_FFFF),
        ]
        let directory = TIFFDirectory(of: file(entries, isLittleEndian: true))
        #expect(directory.byteCount > 0xFFFF_FFFF)
        #expect(directory.tilePixelCount == 0 || directory.tilePixelCount == .max)
    }
}
#endif
