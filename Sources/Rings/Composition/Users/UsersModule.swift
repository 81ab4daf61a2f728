public import InterfaceAdapters
import InwardCore

/// Users to be seen: takes destinations, has each done by its use case and presenter in an interaction of its own, and tells
/// the view what to show.
///
/// It refers to its view weakly, so the view may own it.
public struct UsersModule: Sendable {
    private let container: UsersContainer
    private weak let view: (any UsersView)?

    init(container: UsersContainer, view: any UsersView) {
        self.container = container
        self.view = view
    }

    /// Shows what is at a destination, or why there is nothing to show.
    ///
    /// - Parameters:
    ///   - destination: What to show.
    ///   - limit: How much time there is for it; `nil` for as much as the configuration says.
    public func open(_ destination: Destination, within limit: Duration? = nil) async {
        guard let view else { return }
        do {
            try await container.withInteraction(within: limit) { try await $0.show(destination, on: view) }
        } catch is DeadlinePassedError {
            // The view was told so before the interaction came to its end.
        } catch {
            await view.show(FailureViewModel("The users cannot be shown: \(error)", advice: "Open them again."))
        }
    }
}

extension UsersContainer {
    /// Wires users to be seen for a view: use cases, presenters and router.
    ///
    /// - Parameter view: Any view. It is referred to weakly.
    /// - Returns: what is told the destinations to show.
    public func makeModule(for view: some UsersView) -> UsersModule {
        UsersModule(container: self, view: view)
    }
}
