/// What came of the stages of a load so far.
struct StageProduct: Sendable {
    var result: ImageResult
    /// The shares of the budget that the picture takes while it is worked on.
    var shares: [DecodingBudget.Admission]
    /// Whether they are enough for all that is yet to be done by whoever had it made.
    var hasRoom = false
    /// What was decoded; `nil` if it is not known any more.
    var header: ImageHeader?
    /// Whether it may be kept: not if it came of a failure, even if it is a picture by now.
    var isKeepable: Bool
    /// When what it came of is too old to be kept, as the timer of the cache tells the time; `nil` where that is not known.
    var expiry: Duration?
    var steps: [ImageLoadReport.Step]

    init(
        _ result: ImageResult,
        shares: [DecodingBudget.Admission] = [],
        steps: [ImageLoadReport.Step] = []
    ) {
        self.result = result
        self.shares = shares
        self.steps = steps
        isKeepable = if case .success = result { true } else { false }
    }

    /// What was kept in memory for a key.
    init(kept image: ImageCache.Kept<Image>, for key: ImageKey) {
        let name = key.plugins.last.map(ImageLoadReport.Step.name(of:)) ?? "decode"
        self.init(.success(image.value), steps: [.memory(name, image.value)])
        expiry = image.expiry
    }

    /// How it looks to whoever did not have it made.
    var shared: StageProduct {
        var shared = self
        shared.hasRoom = false
        shared.steps = steps.map(\.shared)
        return shared
    }
}
