public import InwardCore
public import UseCases

/// Asks for a gallery and has it presented.
public struct GalleryController: Sendable {
    private let showGallery: ShowGallery
    private let source: String
    private let stopwatch: Stopwatch

    /// Makes a controller.
    ///
    /// - Parameters:
    ///   - showGallery: The use case that gives the gallery.
    ///   - source: What the upstream is called, such as `the built-in sample`.
    ///   - stopwatch: What tells how long it takes.
    public init(showGallery: ShowGallery, source: String, stopwatch: Stopwatch) {
        self.showGallery = showGallery
        self.source = source
        self.stopwatch = stopwatch
    }

    /// The pictures of all users, as each loader gives them.
    ///
    /// - Parameter progress: Called after each picture with a line that says how far it is, and draws it as a bar.
    /// - Returns: what to show.
    /// - Throws: what to show if there is no list of users to be had.
    public func callAsFunction(
        progress: (String) -> Void = { _ in }
    ) async throws(FailureViewModel) -> GalleryViewModel {
        let start = stopwatch.elapsed
        do throws(ListUsersError) {
            let gallery = try await showGallery { done, total in
                progress("Loading pictures \(ProgressBar(done: done, total: total))")
            }
            return GalleryPresenter(source: source).present(gallery, after: stopwatch.elapsed - start)
        } catch {
            throw UserListPresenter().present(error)
        }
    }
}
