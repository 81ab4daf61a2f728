import InwardImages

/// Writes the pixels of a row in the form of a PNG.
struct PNGRowPacker {
    private let form: PNGForm
    /// The number of each colour of a palette.
    private let numbers: [UInt32: UInt8]

    init(_ form: PNGForm) {
        self.form = form
        guard case .palette(let colors) = form else {
            numbers = [:]
            return
        }
        numbers = Dictionary(
            colors.enumerated().map { ($1.rawValue, UInt8(truncatingIfNeeded: $0)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Writes the pixels that begin at an index.
    func pack(_ pixels: Span<UInt8>, at start: Int, columns: Int, to row: inout MutableSpan<UInt8>) {
        let samples = form.colorType.samples
        switch form {
        case .palette:
            packNumbers(pixels, at: start, columns: columns, to: &row)
        case .gray, .grayAlpha:
            for column in 0..<columns {
                let pixel = start &+ column &* Image.bytesPerPixel
                row[column &* samples] = pixels[pixel]
                if samples == 2 { row[column &* samples &+ 1] = pixels[pixel &+ 3] }
            }
        case .color, .colorAlpha:
            for column in 0..<columns {
                let pixel = start &+ column &* Image.bytesPerPixel
                for sample in 0..<samples { row[column &* samples &+ sample] = pixels[pixel &+ sample] }
            }
        }
    }

    private func packNumbers(_ pixels: Span<UInt8>, at start: Int, columns: Int, to row: inout MutableSpan<UInt8>) {
        let depth = form.bitDepth
        row.update(repeating: 0)
        var last: (color: UInt32, number: UInt8)?
        for column in 0..<columns {
            let color = pixels.quad(at: start &+ column &* Image.bytesPerPixel)
            let number = last?.color == color ? last?.number ?? 0 : numbers[color] ?? 0
            last = (color, number)
            let bit = column &* depth
            row[bit &>> 3] |= number &<< UInt8(truncatingIfNeeded: 8 &- depth &- bit & 7)
        }
    }
}
