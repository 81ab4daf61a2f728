import InwardImages

extension RawImageCodec {
    /// Returns the pixels as the flaw writes them.
    func changed(_ pixels: [UInt8], _ size: ImageSize) -> [UInt8] {
        var pixels = pixels
        switch flaw {
        case .losesAlpha:
            for index in stride(from: 3, to: pixels.count, by: 4) { pixels[index] = 255 }
        case .multipliesAlpha:
            for index in stride(from: 0, to: pixels.count, by: 4) {
                for part in index..<index + 3 { pixels[part] = UInt8(Int(pixels[part]) * Int(pixels[index + 3]) / 255) }
            }
        case .losesLowBits:
            for index in pixels.indices { pixels[index] &= 0xFC }
        case .shiftsRows:
            pixels = Array(pixels.dropFirst(4)) + pixels.prefix(4)
        case .swapsColorsOfLongSides where size.longerSide > 256:
            for index in stride(from: 0, to: pixels.count, by: 4) { pixels.swapAt(index, index + 2) }
        case .reversesRowsOfLargeImages where min(size.width, size.height) > 256:
            let row = size.width * 4
            pixels = stride(from: pixels.count - row, through: 0, by: -row).flatMap { pixels[$0..<$0 + row] }
        default: break
        }
        return pixels
    }

    /// Returns the image with its sides divided by a number. Each pixel is the first of the pixels that it replaces.
    func reduced(_ image: Image, by divisor: Int) -> Image {
        let size =
            flaw == .roundsReducedSizesDown
            ? ImageSize(clamping: image.size.width / divisor, image.size.height / divisor)
            : image.size.divided(by: divisor)
        let orientation = flaw == .losesOrientationWhenReducing ? .up : image.orientation
        let shift = flaw == .shiftsByABlockWhenReducing ? 8 : 0
        let isFirst = flaw == .reducesToTheFirstPixels
        let losesAlpha = flaw == .losesAlphaWhenReducing
        let (source, width) = (image.bytes, image.size.width)
        return Image(size: size, orientation: orientation) { pixels in
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (column, row) = isFirst ? (x, y) : (min(x * divisor + shift, width - 1), y * divisor)
                    let place = (row * width + column) * Image.bytesPerPixel
                    let index = (y * size.width + x) * Image.bytesPerPixel
                    pixels[index] = source[place]
                    pixels[index + 1] = source[place + 1]
                    pixels[index + 2] = source[place + 2]
                    pixels[index + 3] = losesAlpha ? 255 : source[place + 3]
                }
            }
        }
    }
}
