import InwardImages
import Testing

@testable import InwardVips

struct TIFFDirectoryTests {
    /// The size of the fuzzer's largest input.
    private static let largeCount = 8 * 1_024 * 1_024

    private func directory(_ file: TIFFFile) throws(ImageCodecError) -> TIFFDirectory {
        try TIFFDirectory(of: file.bytes.span)
    }

    private func reason(_ file: TIFFFile) -> ImageCodecError.Reason? {
        do throws(ImageCodecError) {
            _ = try directory(file)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(arguments: [true, false]) func tileSizeIsTheProductOfItsSides(isLittleEndian: Bool) throws {
        let tiled = TIFFFile(entries: [(322, 3, 1, 8_192), (323, 4, 1, 4_096)], isLittleEndian: isLittleEndian)
        #expect(try directory(tiled).tilePixelCount == 8_192 * 4_096)
        #expect(try directory(tiled).byteCount == tiled.bytes.count)
        let untiled = TIFFFile(entries: [(256, 3, 1, 8_192)], isLittleEndian: isLittleEndian)
        #expect(try directory(untiled).tilePixelCount == 0)
    }

    @Test(arguments: [true, false]) func fileSizeCoversStripsAndValues(isLittleEndian: Bool) throws {
        let strips = TIFFFile(entries: [(273, 4, 1, 1_000), (279, 4, 1, 234)], isLittleEndian: isLittleEndian)
        #expect(try directory(strips).byteCount == 1_234)
        let values = TIFFFile(entries: [(282, 5, 3, 500)], isLittleEndian: isLittleEndian)
        #expect(try directory(values).byteCount == 524)
    }

    @Test func hugeNumbersDoNotTrap() throws {
        let entries: [TIFFFile.Entry] = [
            (273, 4, 0xFFFF_FFFF, 0xFFFF_FFFF), (279, 12, 0xFFFF_FFFF, 0xFFFF_FFFF), (322, 4, 1, 0xFFFF_FFFF),
            (323, 4, 1, 0xFFFF_FFFF),
        ]
        let directory = try directory(TIFFFile(entries: entries))
        #expect(directory.byteCount > 0xFFFF_FFFF)
        #expect(directory.tilePixelCount == .max)
    }

    @Test func firstEntryOfATagCounts() throws {
        let file = TIFFFile(entries: [(322, 3, 1, 16), (323, 3, 1, 32), (322, 3, 1, 64), (323, 3, 1, 64)])
        #expect(try directory(file).tilePixelCount == 16 * 32)
    }

    /// Each entry claims as many values as fit into the file. Reading all of them took hours.
    @Test func repeatedEntriesAreReadOnce() throws {
        let count = 1_000_000
        let repeated = [TIFFFile.Entry](repeating: (273, 4, count, 20_000), count: 511)
        let directory = try directory(
            TIFFFile(entries: [(279, 4, count, 4_100_000)] + repeated, filling: Self.largeCount)
        )
        #expect(directory.stepCount == 512 + 2 * count)
    }

    @Test(arguments: [true, false]) func directoryWithTooManyEntriesIsRejected(isLittleEndian: Bool) {
        let entry: TIFFFile.Entry = (273, 4, 1_900_000, 800_000)
        for count in [513, 65_535] {
            let entries = [TIFFFile.Entry](repeating: entry, count: count)
            let file = TIFFFile(entries: entries, isLittleEndian: isLittleEndian, filling: Self.largeCount)
            #expect(reason(file) == .unsupported(.tiff))
        }
    }

    @Test func fileThatEndsInItsHeaderOrDirectoryIsTruncated() throws {
        let bytes = TIFFFile(entries: TIFFFile.pixel).bytes
        for length in 4..<bytes.count {
            let cut = Array(bytes.prefix(length))
            do throws(ImageCodecError) {
                let byteCount = try TIFFDirectory(of: cut.span).byteCount
                #expect(byteCount > length)
            } catch {
                #expect(error.reason == .truncated(.tiff), "\(length)")
            }
        }
    }

    /// libtiff copies the values of each entry, which took 41 seconds for 500 entries of 8 MB.
    @Test func overlappingValuesAreRejected() {
        let entries: [TIFFFile.Entry] = (0..<3).map { (40_000 + $0, 1, 3_000_000, 10_000) }
        #expect(reason(TIFFFile(entries: entries, filling: Self.largeCount)) == .damaged(.tiff))
        #expect(reason(TIFFFile(entries: Array(entries.dropLast()), filling: Self.largeCount)) == nil)
        // Values that extend beyond the end of the file are rejected, too.
        let long: [TIFFFile.Entry] = (0..<3).map { (40_000 + $0, 12, 0xFFFF_FFFF, 10_000) }
        #expect(reason(TIFFFile(entries: long, filling: Self.largeCount)) == .damaged(.tiff))
    }

    @Test func cancelledTaskReadsNoStrips() async {
        let file = TIFFFile(
            entries: [(273, 4, 1_000_000, 20_000), (279, 4, 1_000_000, 4_100_000)],
            filling: Self.largeCount
        )
        let bytes = file.bytes
        let reason = await withTaskGroup { group in
            group.addTask {
                while !Task.isCancelled { await Task.yield() }
                do throws(ImageCodecError) {
                    _ = try TIFFDirectory(of: bytes.span)
                    return ImageCodecError.Reason?.none
                } catch {
                    return error.reason
                }
            }
            group.cancelAll()
            return await group.next() ?? nil
        }
        #expect(reason == .cancelled)
    }

    @Test(arguments: [true, false]) func directoriesAfterTheFirstAreRemoved(isLittleEndian: Bool) throws {
        // The offset of the second directory is that of the first.
        let endless = TIFFFile(entries: TIFFFile.pixel, isLittleEndian: isLittleEndian, next: 8).bytes
        let single = TIFFFile(entries: TIFFFile.pixel, isLittleEndian: isLittleEndian).bytes
        #expect(endless != single)
        let checked = try CheckedImage(endless)
        #expect(checked.bytes == single)
        #expect(checked.copiedByteCount == endless.count)
        #expect(try CheckedImage(single).copiedByteCount == 0)
    }

    @Test func documentThatLibtiffReadsAsTIFFIsRejected() {
        let document = [0x45, 0x50] + TIFFFile(entries: TIFFFile.pixel).bytes.dropFirst(2)
        #expect(throws: ImageCodecError.self) { try CheckedImage(document) }
    }
}
