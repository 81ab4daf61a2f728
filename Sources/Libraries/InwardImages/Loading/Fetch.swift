import InwardCore

/// What came of asking for the bytes of a picture.
struct Fetch: Sendable {
    let result: Result<FetchedImage, ImageError>
    let origin: ImageLoadReport.Origin

    /// What a report says of it.
    ///
    /// - Parameter waited: How long whoever reports has waited for it, which is told if it failed.
    /// - Returns: the step.
    func step(waited: Duration) -> ImageLoadReport.Step {
        switch result {
        case .success(let fetched):
            let bytes = fetched.bytes.count
            return ImageLoadReport.Step(name: "fetch", origin: origin, duration: fetched.duration, bytes: bytes)
        case .failure:
            return ImageLoadReport.Step(name: "fetch", origin: origin, duration: waited, bytes: 0)
        }
    }
}
