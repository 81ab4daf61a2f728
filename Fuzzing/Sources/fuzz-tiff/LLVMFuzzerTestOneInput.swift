import InwardImages

@testable import InwardImageCodecs
@testable import InwardVips

/// Parses bytes as a TIFF directory and as Exif data, and checks the file that the TIFF check passes on to libvips.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    _ = Orientation(exif: bytes.span)
    guard let directory = try? TIFFDirectory(of: bytes.span) else { return 0 }
    // Each entry is visited once, and each number in the file at most twice.
    precondition(directory.stepCount <= TIFFDirectory.maximumEntryCount + 2 * bytes.count)
    precondition(directory.byteCount >= 8 && directory.tilePixelCount >= 0)
    guard TIFFDirectory.isTIFF(bytes), let checked = try? CheckedImage(bytes) else { return 0 }
    precondition(checked.bytes.count == bytes.count)
    // libvips receives a file with one directory, which is still the checked one.
    guard let again = try? TIFFDirectory(of: checked.bytes.span) else {
        preconditionFailure("The checked file is refused.")
    }
    precondition(again.nextOffsetPosition == nil)
    precondition(again.tilePixelCount == directory.tilePixelCount || directory.nextOffsetPosition != nil)
    return 0
}
