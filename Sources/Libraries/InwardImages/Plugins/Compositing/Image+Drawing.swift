extension Image {
    /// Lays another picture over this one, with its upper left corner at a pixel; what of it lies outside is left out.
    ///
    /// It is the operator "source over" of Porter and Duff (1984) on encoded values, which is what browsers and drawing
    /// programs do with overlays, and what people expect of a colour that is half transparent.
    ///
    /// - Parameters:
    ///   - mark: What is laid over it.
    ///   - x: How many columns are to the left of it; fewer than none if it begins outside.
    ///   - y: How many rows are above it.
    ///   - opacity: How much of it is seen, from 0 to 255.
    mutating func draw(_ mark: Image, x: Int, y: Int, opacity: Int) {
        let columns = max(0, -x)..<max(0, -x, min(mark.size.width, size.width - x))
        let rows = max(0, -y)..<max(0, -y, min(mark.size.height, size.height - y))
        guard !columns.isEmpty else { return }
        let source = mark.bytes.span
        let stride = size.width * Self.bytesPerPixel
        update { pixels in
            for row in rows {
                let first = (row * mark.size.width + columns.lowerBound) * Self.bytesPerPixel
                let start = (y + row) * stride + (x + columns.lowerBound) * Self.bytesPerPixel
                let count = columns.count * Self.bytesPerPixel
                pixels.draw(source.extracting(first..<first + count), at: start, opacity: opacity)
            }
        }
    }
}

extension MutableSpan<UInt8> {
    /// Lays a row of pixels over those from an index on.
    fileprivate mutating func draw(_ source: Span<UInt8>, at start: Int, opacity: Int) {
        var j = 0
        var i = start
        while j < source.count {
            // Of 255 times 255.
            let share = Int(source[j + 3]) * opacity
            if share == 65025 {
                self[i] = source[j]
                self[i + 1] = source[j + 1]
                self[i + 2] = source[j + 2]
                self[i + 3] = 255
            } else if share > 0 {
                let below = Int(self[i + 3]) * (65025 - share)
                let above = 255 * share
                let sum = above + below
                self[i] = UInt8((Int(source[j]) * above + Int(self[i]) * below + sum / 2) / sum)
                self[i + 1] = UInt8((Int(source[j + 1]) * above + Int(self[i + 1]) * below + sum / 2) / sum)
                self[i + 2] = UInt8((Int(source[j + 2]) * above + Int(self[i + 2]) * below + sum / 2) / sum)
                self[i + 3] = UInt8((sum + 32512) / 65025)
            }
            j += Image.bytesPerPixel
            i += Image.bytesPerPixel
        }
    }
}
