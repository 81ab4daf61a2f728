/// A line of text in the pixel font, which can be drawn at any size.
struct Lettering {
    /// How many rows the line has in the font.
    static let rowCount = PixelFont.rowCount
    /// How many columns the line has in the font, with one between two characters.
    let columnCount: Int
    /// For each row how many pixels are set to the left of each column, and in all.
    private let counts: [[Int]]

    /// Sets a line; `nil` if there is nothing in it.
    init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        var counts = [[Int]](repeating: [], count: Self.rowCount)
        for glyph in text.lazy.map(PixelFont.glyph(of:)) {
            for row in counts.indices {
                // The left edge of the first character, or the right one of the gap behind the one before.
                var count = counts[row].last ?? 0
                counts[row].append(count)
                let lowest = (Self.rowCount - 1 - row) * PixelFont.columnCount
                for column in (0..<PixelFont.columnCount).reversed() {
                    count += Int(glyph >> UInt64(lowest + column) & 1)
                    counts[row].append(count)
                }
            }
        }
        self.counts = counts
        columnCount = (counts.first?.count ?? 0) - 1
    }

    /// The line as a picture of a size in one colour, each pixel as clear as the part of it that is not covered.
    func image(size: ImageSize, color: Color) -> Image {
        let bands = counts.map { covered($0, width: size.width) }
        let height = Double(Self.rowCount) / Double(size.height)
        var coverage = [Double](repeating: 0, count: size.width)
        return Image(size: size) { pixels in
            var index = 0
            for y in 0..<size.height {
                let (top, bottom) = (Double(y) * height, Double(y + 1) * height)
                for x in coverage.indices { coverage[x] = 0 }
                for row in Int(top)..<min(Int(bottom.rounded(.up)), Self.rowCount) {
                    let share = (min(bottom, Double(row + 1)) - max(top, Double(row))) / height
                    let band = bands[row]
                    for x in coverage.indices { coverage[x] += band[x] * share }
                }
                for x in coverage.indices {
                    let alpha = UInt8(min((coverage[x] * Double(color.alpha)).rounded(), 255))
                    if alpha > 0 {
                        pixels[index] = color.red
                        pixels[index + 1] = color.green
                        pixels[index + 2] = color.blue
                        pixels[index + 3] = alpha
                    }
                    index += Image.bytesPerPixel
                }
            }
        }
    }

    /// How much of each of so many pixels a row of the font covers, from 0 to 1.
    private func covered(_ counts: [Int], width: Int) -> [Double] {
        let scale = Double(columnCount) / Double(width)
        var before = 0.0
        return (1...width).map { x in
            let edge = min(Double(x) * scale, Double(columnCount))
            let column = min(Int(edge), columnCount - 1)
            let part = Double(counts[column + 1] - counts[column]) * (edge - Double(column))
            let sum = Double(counts[column]) + part
            defer { before = sum }
            return min(max((sum - before) / scale, 0), 1)
        }
    }
}
