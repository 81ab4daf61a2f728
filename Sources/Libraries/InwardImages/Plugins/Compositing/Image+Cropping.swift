extension Image {
    /// The pixels in a rectangle, which is clipped to the picture.
    func cropped(to rectangle: PixelRectangle) -> Image {
        let part = rectangle.clipped(to: size)
        guard part.size != size else { return self }
        let source = bytes.span
        let sourceStride = size.width * Self.bytesPerPixel
        let stride = part.size.width * Self.bytesPerPixel
        return Image(size: part.size, orientation: orientation) { pixels in
            for y in 0..<part.size.height {
                let start = (part.y + y) * sourceStride + part.x * Self.bytesPerPixel
                let row = source.extracting(start..<start + stride)
                let target = y * stride
                for i in row.indices { pixels[target + i] = row[i] }
            }
        }
    }
}
