import InwardImages

extension ImageResult {
    /// The size of the image, or the reason of the error, as text.
    package var outcome: String {
        switch self {
        case .success(let image): image.size.description
        case .failure(let error): "\(error.reason)"
        }
    }
}
