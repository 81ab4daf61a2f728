import InwardImages

@testable import InwardImageCodecs
@testable import InwardVips

/// Reads bytes as a TIFF directory and as Exif data, and what is left of a file once it has been checked.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    _ = Orientation(exif: bytes.span)
    guard let directory = try? TIFFDirectory(of: bytes.span) else { return 0 }
    // Each entry once, and of each number in the file two at the most.
    precondition(directory.stepCount <= TIFFDirectory.maximumEntryCount + 2 * bytes.count)
    precondition(directory.byteCount >= 8 && directory.tilePixelCount >= 0)
    guard TIFFDirectory.isTIFF(bytes), let checked = try? CheckedImage(bytes) else { return 0 }
    precondition(checked.bytes.count == bytes.count)
    // What libvips gets has one directory, and it is still the one that was checked.
    guard let again = try? TIFFDirectory(of: checked.bytes.span) else { preconditionFailure("it is refused now") }
    precondition(again.nextOffsetPosition == nil)
    precondition(again.tilePixelCount == directory.tilePixelCount || directory.nextOffsetPosition != nil)
    return 0
}
