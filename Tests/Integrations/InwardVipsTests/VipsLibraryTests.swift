#if Vips
import CVips
import InwardImages
import Testing

@testable import InwardVips

@Suite(.timeLimit(.minutes(10)))
struct VipsLibraryTests {
    private let image = Image(size: ImageSize(clamping: 1_024, 1_024), color: Color(red: 10, green: 20, blue: 30))
    private let isStarted = VipsLibrary.start(threads: 1)

    private func encoding(_ format: CVipsFormat) -> CVipsEncoding {
        CVipsEncoding(
            format: format,
            quality: 80,
            effort: 0,
            orientation: 1,
            is_opaque: true,
            is_subsampled: true
        )
    }

    /// Returns the result of work in a cancelled task.
    private func whenCancelled<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result? {
        await withTaskGroup { group in
            group.addTask {
                while !Task.isCancelled { await Task.yield() }
                return work()
            }
            group.cancelAll()
            return await group.next()
        }
    }

    /// The codec checks for cancellation before it starts. These functions check only between rows.
    @Test(arguments: [CVipsFormat.JPEG, .PNG, .webP, .GIF, .AVIF, .TIFF])
    func cancellationStopsEncodingBetweenRows(format: CVipsFormat) async throws {
        #expect(isStarted)
        let encoding = encoding(format)
        // libvips reports no progress if its thread has done all rows before the caller looks, which happens on a busy machine.
        var isStopped = false
        for _ in 1...100 where !isStopped {
            isStopped = await whenCancelled { VipsLibrary.encode(image, encoding) } == .some(nil)
        }
        #expect(isStopped)
        VipsLibrary.discardNotes()
    }

    @Test(arguments: [CVipsFormat.JPEG, .PNG, .webP, .TIFF])
    func cancellationStopsDecodingBetweenRows(format: CVipsFormat) async throws {
        let bytes = try #require(VipsLibrary.encode(image, encoding(format)))
        let decode: @Sendable () -> Bool = {
            var isDone = false
            _ = Image(size: image.size) { pixels in
                let decoding = CVipsDecoding(format: format, reduction: 1, allows_truncation: false)
                isDone = VipsLibrary.decode(bytes, decoding, size: image.size, into: &pixels)
            }
            return isDone
        }
        #expect(decode())
        #expect(await whenCancelled(decode) == false)
    }

    @Test func nothingIsWrittenIntoABufferOfTheWrongSize() throws {
        let bytes = try #require(VipsLibrary.encode(image, encoding(.PNG)))
        let decoding = CVipsDecoding(format: .PNG, reduction: 1, allows_truncation: false)
        for other in [ImageSize(clamping: 1_023, 1_024), ImageSize(clamping: 1_024, 1_025)] {
            let written = Image(size: other) { pixels in
                #expect(!VipsLibrary.decode(bytes, decoding, size: other, into: &pixels))
                #expect(!VipsLibrary.decode(bytes, decoding, size: image.size, into: &pixels))
            }
            #expect(written == Image(size: other))
        }
    }

    /// The codec already rejects such a format. This tests that libvips would not decode it either.
    @Test func blockedLoaderDecodesNothing() {
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='2' height='2'><rect width='2' height='2'/></svg>"
        let size = ImageSize(clamping: 2, 2)
        _ = Image(size: size) { pixels in
            let decoding = CVipsDecoding(format: .PNG, reduction: 1, allows_truncation: true)
            #expect(!VipsLibrary.decode(Array(text.utf8), decoding, size: size, into: &pixels))
        }
        VipsLibrary.discardNotes()
    }
}
#endif
