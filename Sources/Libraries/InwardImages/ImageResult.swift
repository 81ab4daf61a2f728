/// A picture, or why there is none.
public typealias ImageResult = Result<Image, ImageError>

extension ImageResult {
    /// How many bytes the picture takes; 0 if there is none.
    var byteCount: Int {
        if case .success(let image) = self { image.size.byteCount } else { 0 }
    }
}
