/// Makes pixels from the samples of the components (T.871 section 7).
struct JPEGColorConverter {
    private let model: JPEGColorModel

    init(_ model: JPEGColorModel) {
        self.model = model
    }

    /// Writes a row of pixels.
    ///
    /// - Parameters:
    ///   - samples: The samples.
    ///   - rows: Where the row of each component begins.
    ///   - count: How many pixels there are.
    ///   - pixels: Where they are written.
    ///   - position: Where the first one is.
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

    // Each on its own and not inlined, for what is too large does not have its looks at the bounds inlined.

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
            // What is written is the complement of the inks that the colours are, and their complement again.
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
        _ eight: (Int) -> SIMD32<UInt8>
    ) {
        var index = 0
        while index &+ 8 <= count {
            pixels.store(eight(index), at: position &+ 4 &* index)
            index &+= 8
        }
        guard index < count else { return }
        // What the samples end with is done as if there were more of them.
        let rest = eight(index)
        for byte in 0..<4 &* (count &- index) { pixels[position &+ 4 &* index &+ byte] = rest[byte] }
    }

    /// Red, green and blue, which may lie outside of what can be.
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
        // The factors are 1.402, 0.344136, 0.714136 and 1.772: what they differ by from whole numbers fits with 8 or 9 bits
        // behind the point into products of 16 bits, and is off by a fifth of a level at most.
        let red = redness &+ (redness &* 206 &+ 256) &>> 9
        let green = redness &+ (blueness &* 88 &- redness &* 73 &+ 128) &>> 8
        let blue = blueness &+ blueness &- (blueness &* 117 &+ 256) &>> 9
        return (brightness &+ red, brightness &- green, brightness &+ blue)
    }

    /// How much light an ink leaves where there is black too: both are 255 where there is none.
    @inline(__always)
    private static func inked(_ light: SIMD8<Int16>, _ black: SIMD8<Int16>) -> SIMD8<Int16> {
        // The quotient by 255 of a product of two bytes, rounded.
        let product = SIMD8<UInt16>(truncatingIfNeeded: 255 &- light) &* SIMD8<UInt16>(truncatingIfNeeded: black) &+ 128
        return black &- SIMD8<Int16>(truncatingIfNeeded: (product &+ product &>> 8) &>> 8)
    }

    /// Eight pixels that hide all, of levels that may lie outside of what can be.
    ///
    /// It is not inlined, lest the compiler reckons with each byte on its own before.
    @inline(never)
    private static func pixels(_ red: SIMD8<Int16>, _ green: SIMD8<Int16>, _ blue: SIMD8<Int16>) -> SIMD32<UInt8> {
        let least = SIMD8<Int16>(repeating: 0)
        let most = SIMD8<Int16>(repeating: 255)
        var redAndBlue = SIMD16<UInt8>()
        redAndBlue.evenHalf = SIMD8<UInt8>(truncatingIfNeeded: red.clamped(lowerBound: least, upperBound: most))
        redAndBlue.oddHalf = SIMD8<UInt8>(truncatingIfNeeded: blue.clamped(lowerBound: least, upperBound: most))
        var greenAndAlpha = SIMD16<UInt8>()
        greenAndAlpha.evenHalf = SIMD8<UInt8>(truncatingIfNeeded: green.clamped(lowerBound: least, upperBound: most))
        greenAndAlpha.oddHalf = SIMD8<UInt8>(repeating: 255)
        var pixels = SIMD32<UInt8>()
        pixels.evenHalf = redAndBlue
        pixels.oddHalf = greenAndAlpha
        return pixels
    }
}

/// What the components of an image mean.
enum JPEGColorModel {
    case gray
    case yCbCr
    case rgb
    /// Cyan, magenta, yellow and black, each 255 where there is no ink: as Adobe writes them, and as everybody takes them.
    case cmyk
    /// Such inks, the first three as YCbCr.
    case ycck

    /// Decides what the components of a frame mean, by what the file says of it elsewhere; as everybody does, for no standard
    /// tells.
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
