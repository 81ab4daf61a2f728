extension Result {
    /// The failure, or `nil` for a success.
    package var failure: Failure? {
        switch self {
        case .success: nil
        case .failure(let error): error
        }
    }
}
