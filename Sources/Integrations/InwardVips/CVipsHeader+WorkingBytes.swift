#if Vips
import CVips
import InwardImages

extension CVipsHeader {
    /// How many bytes decoding takes at the most beside those of the picture that comes out.
    ///
    /// - Parameters:
    ///   - format: The form of the picture.
    ///   - size: Its size.
    ///   - tilePixelCount: How many pixels a tile of a TIFF has.
    ///   - copiedByteCount: How many of the encoded bytes were copied.
    /// - Returns: the number of bytes.
    func workingBytes(
        for format: ImageFormat,
        _ size: ImageSize,
        tilePixelCount: Int,
        copiedByteCount: Int
    ) -> Int {
        let pixelBytes = Int(pixel_bytes)
        let whole: Int
        switch format {
        // Coefficients of two bytes, which are kept where the scans are many.
        case .jpeg: whole = is_interlaced ? Self.product(size.pixelCount, pixelBytes, 2) : 0
        case .png: whole = is_interlaced ? Self.product(size.pixelCount, pixelBytes, 2) : 0
        // The frame that is decoded, and the canvas it is put on, before and behind.
        case .webP, .gif: whole = Self.product(size.pixelCount, Image.bytesPerPixel, 4)
        // Planes of the decoder and those it refers to, and the pixels made of them.
        case .avif, .heif: whole = Self.product(size.pixelCount, Image.bytesPerPixel, 8)
        // A strip may be the whole picture and a tile more than that, packed and unpacked; and tiles are kept for a row of them.
        case .tiff:
            whole = Self.product(max(size.pixelCount, tilePixelCount), pixelBytes, 4)
        default: whole = 0
        }
        // Rows on their way through the steps of the conversion, and what each library takes whatever it decodes.
        let rows = Self.product(size.width, pixelBytes * 3 + 64, 64)
        return [rows, whole, copiedByteCount, 8 * 1_024 * 1_024].reduce(0) { sum, bytes in
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
