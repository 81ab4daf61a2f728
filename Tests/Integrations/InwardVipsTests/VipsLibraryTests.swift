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

    /// What work does whose task is cancelled.
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

    /// The codec does not even begin in such a task; here it is found out between rows.
    @Test(arguments: [CVipsFormat.JPEG, .PNG, .webP, .GIF, .AVIF, .TIFF])
    func encodingEndsBetweenRowsWhenTheTaskIsCancelled(format: CVipsFormat) async throws {
        #expect(isStarted)
        let encoding = encoding(format)
        #expect(await whenCancelled { VipsLibrary.encode(image, encoding) } == .some(nil))
        VipsLibrary.discardNotes()
    }

    @Test(arguments: [CVipsFormat.JPEG, .PNG, .webP, .TIFF])
    func decodingEndsBetweenRowsWhenTheTaskIsCancelled(format: CVipsFormat) async throws {
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

    @Test func nothingIsWrittenIntoLessRoomThanAnImageTakes() throws {
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

    /// The codec recognizes no such image; nor would libvips decode it if it did.
    @Test func whatIsBlockedIsNotDecoded() {
        let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='2' height='2'><rect width='2' height='2'/></svg>"
        let size = ImageSize(clamping: 2, 2)
        _ = Image(size: size) { pixels in
            let decoding = CVipsDecoding(format: .PNG, reduction: 1, allows_truncation: true)
            #expect(!VipsLibrary.decode(Array(picture.utf8), decoding, size: size, into: &pixels))
        }
        VipsLibrary.discardNotes()
    }
}
#endif
