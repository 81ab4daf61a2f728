#if Observability
public import InwardCore
import InwardFetching
import InwardImages
import InwardRepositories
import InwardScopes
public import Logging

/// An error handler that logs each error with swift-log, and passes it on to another handler.
///
/// ```swift
/// let handler = IgnoringErrorHandler().logging(with: Logger(label: "comments"))
/// handler.handle(CancellationError())
/// ```
///
/// The log record contains the error itself, for backends that store more than text. Its metadata contains the type of the
/// error (`exception.type`), the kind of failure (`error.type`), the description (`exception.message`), and the identifier of
/// the interaction, if there is one. Hidden characters in the metadata are escaped, but the text is not checked for secrets.
public struct SwiftLogErrorHandler: ErrorHandler {
    private let base: any ErrorHandler
    private let logger: Logger
    private let level: @Sendable (any Error) -> Logger.Level

    init(_ base: any ErrorHandler, logger: Logger, level: @escaping @Sendable (any Error) -> Logger.Level) {
        self.base = base
        self.logger = logger
        self.level = level
    }

    /// Logs the error and passes it on.
    public func handle(_ error: any Error) {
        logger.log(
            level: level(error),
            "Error handled",
            error: error,
            metadata: .of(
                FetchAttributes.interaction.merging(
                    FetchAttributes([
                        AttributeName.exceptionType: .text(String(reflecting: type(of: error))),
                        AttributeName.errorType: .text(error.category),
                        AttributeName.errorMessage: .text("\(error)"),
                    ])
                )
            )
        )
        base.handle(error)
    }

    /// Closes the wrapped handler.
    public func close() async { await base.close() }

    /// The chain, starting with this handler.
    public var description: String { "logs with swift-log → \(base)" }
}

extension ErrorHandler {
    /// Returns a handler that logs each error, and then passes it on to this handler.
    ///
    /// - Parameters:
    ///   - logger: The logger.
    ///   - level: Returns the level for an error.
    /// - Returns: The outermost handler of the new chain.
    public func logging(
        with logger: Logger,
        at level: @escaping @Sendable (any Error) -> Logger.Level = { _ in .error }
    ) -> SwiftLogErrorHandler {
        SwiftLogErrorHandler(self, logger: logger, level: level)
    }
}

extension Error {
    /// The kind of failure, for use as a label: the reason of an error of this package, or the name of any other error's type.
    var category: String {
        switch self {
        case let error as FetchError: error.status.map { "\($0.code)" } ?? error.reason.description
        case let error as RepositoryError: error.reason.description
        case let error as RecordStoreError: "\(error.reason)"
        case let error as ResilienceError: error.reason.description
        case let error as ImageError: "\(error.reason)"
        case let error as SessionRegistryError: error.reason.description
        case let error as RefusedWriteError: error.cause.category
        case let error as DelayedWriteError: error.cause.category
        case is CancellationError: "cancelled"
        // If `Self` is `any Error`, the result without this cast would be the name of the existential type.
        default: String(describing: type(of: self as any Error))
        }
    }

    /// The explanation of an error of this package whose text contains no credentials, or `nil` for any other error.
    var credentialFreeText: String? {
        switch self {
        case let error as FetchError: error.explanation
        case let error as RepositoryError: error.explanation
        case let error as RecordStoreError: error.explanation
        case let error as ResilienceError: error.description
        default: nil
        }
    }
}

extension Logger.MetadataProvider {
    /// A provider that adds the identifier of the current interaction, `inward.interaction.id`, to every record of a logger.
    ///
    /// ```swift
    /// let logger = Logger(label: "comments", metadataProvider: .interaction)
    /// ```
    public static let interaction = Logger.MetadataProvider { .of(.interaction) }
}
#endif
