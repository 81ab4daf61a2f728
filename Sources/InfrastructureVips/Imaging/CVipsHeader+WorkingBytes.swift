#if Vips
import CVips
import Entities

extension CVipsHeader {
    /// How many bytes decoding takes at the most beside those of the picture that comes out.
    func workingBytes(for encoded: EncodedImage, _ size: ImageSize) -> Int {
        let pixelBytes = Int(pixel_bytes)
        let whole: Int
        switch encoded.format {
        // Coefficients of two bytes, which are kept where the scans are many.
        case .jpeg: whole = is_interlaced ? Self.product(size.pixelCount, pixelBytes, 2) : 0
        case .png: whole = is_interlaced ? Self.product(size.pixelCount, pixelBytes, 2) : 0
        // The frame that is decoded, and the canvas it is put on, before and behind.
        case .webP, .gif: whole = Self.product(size.pixelCount, Image.bytesPerPixel, 4)
        // Planes of the decoder and those it refers to, and the pixels made of them.
        case .avif, .heif: whole = Self.product(size.pixelCount, Image.bytesPerPixel, 8)
        // A strip may be the whole picture and a tile more than that, packed and unpacked; and tiles are kept for a row of them.
        case .tiff:
            let tile = TIFFDirectory(of: encoded).tilePixelCount
            whole = Self.product(max(size.pixelCount, tile), pixelBytes, 4)
        default: whole = 0
        }
        // Rows on their way through the steps of the conversion, and what each library takes whatever it decodes.
        let rows = Self.product(size.width, pixelBytes * 3 + 64, 64)
        return [rows, whole, 8 * 1_024 * 1_024].reduce(0) { sum, bytes in
            let (result, isTooMany) = sum.addingReportingOverflow(bytes)
            return isTooMany ? .max : result
        }
    }

    private static func product(_ factors: Int...) -> Int {
        factors.reduce(1) { product, factor in
            let (result, isTooMany) = product.multipliedReportingOverflow(by: factor)
            return isTooMany ? .max : result
        }
    }
}
#endif
