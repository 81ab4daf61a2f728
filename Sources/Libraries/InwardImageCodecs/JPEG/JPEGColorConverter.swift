/// A converter from component samples to pixels (T.871 section 7).
struct JPEGColorConverter {
    private let model: JPEGColorModel

    init(_ model: JPEGColorModel) {
        self.model = model
    }

    /// Writes a row of pixels.
    ///
    /// - Parameters:
    ///   - samples: The samples.
    ///   - rows: The offset of each component's row.
    ///   - count: The number of pixels.
    ///   - pixels: Receives the pixels.
    ///   - position: The offset of the first pixel.
    func write(
        _ samples: inout MutableSpan<UInt8>,
        from rows: SIMD4<Int>,
        count: Int,
        to pixels: inout MutableSpan<UInt8>,
        at position: Int
    ) {
        switch model {
        case .gray: Self.writeGray(samples, rows, count, &pixels, position)
        case .rgb: Self.writeRGB(samples, rows, count, &pixels, position)
        case .yCbCr: Self.writeYCbCr(samples, rows, count, &pixels, position)
        case .cmyk: Self.writeCMYK(samples, rows, count, &pixels, position)
        case .ycck: Self.writeYCCK(samples, rows, count, &pixels, position)
        }
    }

    // These functions are separate and not inlined, because the compiler does not inline bounds checks into large functions.

    @inline(never)
    private static func writeGray(
        _ samples: borrowing MutableSpan<UInt8>,
        _ rows: SIMD4<Int>,
        _ count: Int,
        _ pixels: inout MutableSpan<UInt8>,
        _ position: Int
    ) {
        let row = rows[0]
        write(&pixels, position, count) { index in
            let level = samples.eightLevels(at: row &+ index)
            return Self.pixels(level, level, level)
        }
    }

    @inline(never)
    private static func writeRGB(
        _ samples: borrowing MutableSpan<UInt8>,
        _ rows: SIMD4<Int>,
        _ count: Int,
        _ pixels: inout MutableSpan<UInt8>,
        _ position: Int
    ) {
        let (red, green, blue) = (rows[0], rows[1], rows[2])
        write(&pixels, position, count) { index in
            Self.pixels(
                samples.eightLevels(at: red &+ index),
                samples.eightLevels(at: green &+ index),
                samples.eightLevels(at: blue &+ index)
            )
        }
    }

    @inline(never)
    private static func writeYCbCr(
        _ samples: borrowing MutableSpan<UInt8>,
        _ rows: SIMD4<Int>,
        _ count: Int,
        _ pixels: inout MutableSpan<UInt8>,
        _ position: Int
    ) {
        write(&pixels, position, count) { index in
            let (red, green, blue) = colors(samples, rows, index)
            return Self.pixels(red, green, blue)
        }
    }

    @inline(never)
    private static func writeCMYK(
        _ samples: borrowing MutableSpan<UInt8>,
        _ rows: SIMD4<Int>,
        _ count: Int,
        _ pixels: inout MutableSpan<UInt8>,
        _ position: Int
    ) {
        write(&pixels, position, count) { index in
            let black = samples.eightLevels(at: rows[3] &+ index)
            return Self.pixels(
                inked(samples.eightLevels(at: rows[0] &+ index), black),
                inked(samples.eightLevels(at: rows[1] &+ index), black),
                inked(samples.eightLevels(at: rows[2] &+ index), black)
            )
        }
    }

    @inline(never)
    private static func writeYCCK(
        _ samples: borrowing MutableSpan<UInt8>,
        _ rows: SIMD4<Int>,
        _ count: Int,
        _ pixels: inout MutableSpan<UInt8>,
        _ position: Int
    ) {
        write(&pixels, position, count) { index in
            // The inks are the complements of the colors, and the file stores the complements of the inks. The two cancel out.
            let (red, green, blue) = colors(samples, rows, index)
            let black = samples.eightLevels(at: rows[3] &+ index)
            return Self.pixels(
                inked(255 &- red.clampedToBytes, black),
                inked(255 &- green.clampedToBytes, black),
                inked(255 &- blue.clampedToBytes, black)
            )
        }
    }

    /// Writes pixels, eight at a time.
    @inline(__always)
    private static func write(
        _ pixels: inout MutableSpan<UInt8>,
        _ position: Int,
        _ count: Int,
        _ eight: (Int) -> SIMD8<UInt32>
    ) {
        var index = 0
        while index &+ 8 <= count {
            pixels.store(eight(index), at: position &+ 4 &* index)
            index &+= 8
        }
        guard index < count else { return }
        // The remaining samples are converted as a full vector, too.
        let rest = eight(index)
        for column in index..<count {
            for byte in 0..<4 {
                let value = rest[column &- index] &>> UInt32(8 &* byte)
                pixels[position &+ 4 &* column &+ byte] = UInt8(truncatingIfNeeded: value)
            }
        }
    }

    /// Returns red, green and blue, possibly out of range.
    @inline(__always)
    private static func colors(
        _ samples: borrowing MutableSpan<UInt8>,
        _ rows: SIMD4<Int>,
        _ index: Int
    ) -> (SIMD8<Int16>, SIMD8<Int16>, SIMD8<Int16>) {
        let samples = (
            samples.eightSamples(at: rows[0] &+ index),
            samples.eightSamples(at: rows[1] &+ index),
            samples.eightSamples(at: rows[2] &+ index)
        )
        let brightness = samples.0.levels
        let blueness = samples.1.levels &- 128
        let redness = samples.2.levels &- 128
        // The factors are 1.402, 0.344136, 0.714136 and 1.772. Their fractional parts fit 16-bit products with 8 or 9
        // fractional bits, with an error of at most a fifth of a level.
        let red = redness &+ (redness &* 206 &+ 256) &>> 9
        let green = redness &+ (blueness &* 88 &- redness &* 73 &+ 128) &>> 8
        let blue = blueness &+ blueness &- (blueness &* 117 &+ 256) &>> 9
        return (brightness &+ red, brightness &- green, brightness &+ blue)
    }

    /// Returns the light that remains after an ink and black. Both are 255 where there is no ink.
    @inline(__always)
    private static func inked(_ light: SIMD8<Int16>, _ black: SIMD8<Int16>) -> SIMD8<Int16> {
        // The product of two bytes divided by 255, rounded.
        let product = SIMD8<UInt16>(truncatingIfNeeded: 255 &- light) &* SIMD8<UInt16>(truncatingIfNeeded: black) &+ 128
        return black &- SIMD8<Int16>(truncatingIfNeeded: (product &+ product &>> 8) &>> 8)
    }

    /// Returns eight opaque pixels from levels that may be out of range. Red is the lowest byte of each.
    ///
    /// The bytes are joined by arithmetic, because the compiler would process shuffled ones separately.
    @inline(__always)
    private static func pixels(_ red: SIMD8<Int16>, _ green: SIMD8<Int16>, _ blue: SIMD8<Int16>) -> SIMD8<UInt32> {
        let redAndGreen = (red.clampedToBytes | green.clampedToBytes &<< 8).unsigned
        let blueAndAlpha = blue.clampedToBytes.unsigned | 0xFF00
        return redAndGreen.wide | blueAndAlpha.wide &<< 16
    }
}

/// The meaning of an image's components.
enum JPEGColorModel {
    case gray
    case yCbCr
    case rgb
    /// Cyan, magenta, yellow and black, each 255 where there is no ink, as Adobe writes them and decoders expect.
    case cmyk
    /// CMYK with the first three components converted to YCbCr.
    case ycck

    /// Determines the color model from the frame and the application segments. No standard specifies the rules, so they are
    /// those of common decoders.
    init(_ frame: JPEGFrame, _ application: JPEGApplicationData) {
        switch frame.components.count {
        case 1: self = .gray
        case 4: self = (application.adobeTransform ?? 0) == 0 ? .cmyk : .ycck
        default:
            let names = frame.components.map(\.identifier)
            if application.isJFIF {
                self = .yCbCr
            } else if let transform = application.adobeTransform {
                self = transform == 0 ? .rgb : .yCbCr
            } else {
                self = names == Array("RGB".utf8) ? .rgb : .yCbCr
            }
        }
    }
}
